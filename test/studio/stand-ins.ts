import type { PythonEnvironment } from "../support/python-environment.ts";

/** The text that every page has for the stand-ins. */
const PAGE = "<html><body><h1>Tides</h1><p>High at noon.</p></body></html>";

const RESPONSE = `
import json as _json

class Response:
    status_code = 200
    content = b"%PDF"

    def __init__(self, url):
        self.url = url
        self.text = '{"items": [{"title": "Tides", "link": "https://tides.example"}]}' if "api" in url else ${JSON.stringify(PAGE)}

    def raise_for_status(self):
        pass

    def json(self):
        return _json.loads(self.text)
`;

/**
 * The packages that public teams import most, each with as much of its interface as the tools of the tests use, and answers that need
 * no network: PyPI cannot be reached where the tests run.
 */
const STAND_INS: readonly [name: string, module: string, source: string][] = [
  [
    "httpx",
    "httpx",
    `${RESPONSE}
class AsyncClient:
    def __init__(self, **options):
        pass

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        pass

    async def get(self, url, **options):
        return Response(url)
`,
  ],
  [
    "requests",
    "requests",
    `${RESPONSE}
class exceptions:
    class RequestException(Exception):
        pass

def get(url, **options):
    return Response(url)
`,
  ],
  [
    "html2text",
    "html2text",
    `import re

class HTML2Text:
    ignore_links = False

    def handle(self, html):
        return re.sub(r"<[^>]+>", " ", html).strip()
`,
  ],
  [
    "beautifulsoup4",
    "bs4",
    `import re

class BeautifulSoup:
    def __init__(self, html, parser):
        self.html = html

    def get_text(self, separator=" "):
        return separator.join(re.sub(r"<[^>]+>", " ", self.html).split())
`,
  ],
  [
    "openai",
    "openai",
    `class _Image:
    b64_json = "aW1hZ2U="

class _Images:
    def generate(self, **options):
        return type("Images", (), {"data": [_Image()]})()

class OpenAI:
    def __init__(self, **options):
        self.images = _Images()
`,
  ],
  [
    "fpdf",
    "fpdf",
    `class FPDF:
    def __init__(self):
        self.lines = []

    def add_page(self):
        pass

    def set_font(self, *font, **options):
        pass

    def cell(self, *size, txt="", **options):
        self.lines.append(txt)

    def output(self, path):
        with open(path, "w") as file:
            file.write("\\n".join(self.lines))
`,
  ],
  ["pillow", "PIL", "class Image:\n    pass\n"],
  [
    "yfinance",
    "yfinance",
    `class Ticker:
    def __init__(self, symbol):
        self.info = {"shortName": symbol, "currentPrice": 41.5}
`,
  ],
  [
    "arxiv",
    "arxiv",
    `class Search:
    def __init__(self, query, max_results=3):
        self.query = query

class Client:
    def results(self, search):
        yield type("Result", (), {"title": f"On {search.query}", "entry_id": "https://papers.example/1"})()
`,
  ],
  [
    "wikipedia",
    "wikipedia",
    "def summary(title, sentences=2):\n    return f'{title} is a thing.'\n",
  ],
  ["python-dotenv", "dotenv", "def load_dotenv():\n    return True\n"],
];

/** Puts a wheel of each stand-in beside the environment, where pip finds it. */
export async function addStandIns(environment: PythonEnvironment): Promise<void> {
  for (const stand of STAND_INS) await environment.addWheel(...stand);
}
