import type { JsonObject } from "troupe";

/** A function of a tool, with its imports as AutoGen dumps them. */
export interface PythonFunction {
  name: string;
  source: string;
  imports?: (string | { module: string; imports: string[] })[];
}

/** A call, and a part of what the tool returns. */
export type ToolCall = readonly [tool: string, args: JsonObject, result: string];

export const calculator: PythonFunction = {
  name: "calculator",
  source: `def calculator(a: float, b: float, operator: str) -> str:
    try:
        return str({"+": a + b, "-": a - b, "*": a * b, "/": a / b}[operator])
    except Exception as e:
        return f"Error: {e}"
`,
};

export const search: PythonFunction = {
  name: "web_search",
  imports: [
    "os",
    "httpx",
    "html2text",
    { module: "bs4", imports: ["BeautifulSoup"] },
    { module: "typing", imports: ["Dict", "List", "Optional"] },
    { module: "urllib.parse", imports: ["urljoin"] },
  ],
  source: `async def web_search(query: str, num_results: int = 3, language: Optional[str] = None) -> List[Dict[str, str]]:
    async with httpx.AsyncClient() as client:
        found = await client.get("https://api.search.example", params={"q": query, "num": num_results})
        found.raise_for_status()
        return [{"title": item["title"], "link": item["link"]} for item in found.json()["items"]]
`,
};

export const page: PythonFunction = {
  name: "read_page",
  imports: search.imports ?? [],
  source: `async def read_page(url: str, max_length: Optional[int] = 10000) -> str:
    async with httpx.AsyncClient(follow_redirects=True) as client:
        page = await client.get(url, timeout=10)
    reader = html2text.HTML2Text()
    reader.ignore_links = False
    return reader.handle(page.text)[:max_length]
`,
};

export const weather: PythonFunction = {
  name: "get_weather",
  source: `import requests

def get_weather(city: str) -> str:
    answer = requests.get(f"https://api.weather.example/{city}", timeout=5)
    return f"{city}: {answer.json()['items'][0]['title']}"
`,
};

export const picture: PythonFunction = {
  name: "make_picture",
  imports: [
    "base64",
    "uuid",
    { module: "pathlib", imports: ["Path"] },
    { module: "openai", imports: ["OpenAI"] },
  ],
  source: `async def make_picture(query: str, output_dir: Optional[Path] = None, image_size: Literal["1024x1024", "512x512"] = "1024x1024") -> List[str]:
    client = OpenAI(api_key="unused")
    images = client.images.generate(model="dall-e-3", prompt=query, n=1, response_format="b64_json", size=image_size)
    folder = output_dir or Path(".")
    saved = []
    for image in images.data:
        path = folder / f"{uuid.uuid4()}.png"
        path.write_bytes(base64.b64decode(image.b64_json))
        saved.append(path.suffix)
    return saved
`,
};

export const report: PythonFunction = {
  name: "write_report",
  imports: [
    "uuid",
    "requests",
    "unicodedata",
    { module: "fpdf", imports: ["FPDF"] },
    { module: "PIL", imports: ["Image"] },
  ],
  source: `async def write_report(sections: List[Dict[str, Optional[str]]], output_file: str = "report.pdf", report_title: str = "Report") -> str:
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica", "B", 24)
    pdf.cell(0, 10, txt=unicodedata.normalize("NFKD", report_title))
    for section in sections:
        pdf.cell(0, 10, txt=section.get("title") or "")
    pdf.output(output_file)
    return open(output_file).read()
`,
};

export const stock: PythonFunction = {
  name: "stock_price",
  source: `import yfinance as yf

def stock_price(symbol: Annotated[str, "The symbol"]) -> dict:
    """The price of a share."""
    info = yf.Ticker(symbol).info
    return {"name": info["shortName"], "price": info["currentPrice"]}
`,
};

export const papers: PythonFunction = {
  name: "find_papers",
  source: `def find_papers(query: str, max_results: int = 2) -> list:
    """Papers on a subject."""
    import arxiv

    results = arxiv.Client().results(arxiv.Search(query=query, max_results=max_results))
    return [{"title": paper.title, "url": paper.entry_id} for paper in results]
`,
};

export const lookUp: PythonFunction = {
  name: "look_up",
  source:
    "import wikipedia\n\ndef look_up(title: str) -> str:\n    return wikipedia.summary(title, sentences=1)\n",
};

export const settings: PythonFunction = {
  name: "read_settings",
  source: `import os
from dotenv import load_dotenv

load_dotenv()
PLACE = os.getenv("PLACE", "nowhere")

def read_settings() -> str:
    return PLACE
`,
};

export const scrape: PythonFunction = {
  name: "scrape",
  source: `import requests
from bs4 import BeautifulSoup
from autogen_core import CancellationToken
from typing_extensions import Annotated

async def scrape(url: Annotated[str, "The page"], cancellation_token: CancellationToken) -> str:
    try:
        return BeautifulSoup(requests.get(url).text, "html.parser").get_text()
    except requests.exceptions.RequestException as error:
        return str(error)
`,
};

export const database: PythonFunction = {
  name: "count_rows",
  source: `import sqlite3

def count_rows(table: str) -> int:
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"create table {table} (x)")
        connection.execute(f"insert into {table} values (1), (2)")
        return connection.execute(f"select count(*) from {table}").fetchone()[0]
`,
};

export const flights: PythonFunction = {
  name: "refund_flight",
  source:
    'def refund_flight(flight_id: str) -> str:\n    """Refund a flight"""\n    return f"Flight {flight_id} refunded"\n',
};

const CALLS: Readonly<Record<string, [args: JsonObject, result: string]>> = {
  calculator: [{ a: 6, b: 7, operator: "*" }, "42.0"],
  web_search: [{ query: "tides" }, "https://tides.example"],
  read_page: [{ url: "https://tides.example" }, "High at noon."],
  get_weather: [{ city: "Kiel" }, "Kiel: Tides"],
  make_picture: [{ query: "a boat" }, ".png"],
  write_report: [{ sections: [{ title: "Boats" }] }, "Report\nBoats"],
  stock_price: [{ symbol: "ABC" }, "41.5"],
  find_papers: [{ query: "boats" }, "On boats"],
  look_up: [{ title: "A boat" }, "A boat is a thing."],
  read_settings: [{}, "nowhere"],
  scrape: [{ url: "https://tides.example" }, "Tides High at noon."],
  count_rows: [{ table: "boats" }, "2"],
  refund_flight: [{ flight_id: "K7" }, "Flight K7 refunded"],
};

/** A call of each tool. */
export const calls = (...tools: PythonFunction[]): ToolCall[] =>
  tools.map(({ name }) => {
    const [args, result] = CALLS[name] ?? [{}, name];
    return [name, args, result] as const;
  });
