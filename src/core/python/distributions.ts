/** Packages whose name for `pip` differs from the module that they install. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    attr: "attrs",
    autogen_agentchat: "autogen-agentchat",
    autogen_core: "autogen-core",
    autogen_ext: "autogen-ext",
    bs4: "beautifulsoup4",
    Crypto: "pycryptodome",
    cv2: "opencv-python-headless",
    dateutil: "python-dateutil",
    discord: "discord.py",
    docx: "python-docx",
    dotenv: "python-dotenv",
    duckduckgo_search: "duckduckgo-search",
    fitz: "pymupdf",
    git: "GitPython",
    github: "PyGithub",
    googleapiclient: "google-api-python-client",
    jose: "python-jose",
    jwt: "PyJWT",
    magic: "python-magic",
    multipart: "python-multipart",
    mysql: "mysql-connector-python",
    OpenSSL: "pyOpenSSL",
    PIL: "pillow",
    pptx: "python-pptx",
    psycopg2: "psycopg2-binary",
    serial: "pyserial",
    serpapi: "google-search-results",
    skimage: "scikit-image",
    sklearn: "scikit-learn",
    slack_sdk: "slack-sdk",
    telegram: "python-telegram-bot",
    wikipediaapi: "wikipedia-api",
    yaml: "pyyaml",
    youtube_transcript_api: "youtube-transcript-api",
  }),
);

/** The packages that `pip install` takes for modules that cannot be imported, each once. */
export function distributionsOf(modules: readonly string[]): string[] {
  const packages = modules.map((module) => module.split(".", 1)[0] ?? module);
  return [...new Set(packages.map((name) => NAMES.get(name) ?? name))];
}
