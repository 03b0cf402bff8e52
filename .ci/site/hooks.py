"""Makes a site of documents that are written for GitHub.

docs/README.md is the navigation: its headings are the sections, and the rows of its tables are
the pages. A document outside of docs that it names becomes a page too. Links to other files lead
to the repository, if the site knows its address.
"""

import os
import posixpath
import re
import subprocess
from pathlib import Path
from urllib.parse import urljoin

import yaml
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
INDEX = "docs/README.md"
REFERENCE = "reference/index.html"  # the page of api/docs with the contract
CONTRACT = "api/openapi.yaml"

# In the search, guides stand before what is written from code, and both before decisions.
BOOSTS = {"api.md": 2, "cli.md": 0.3}

# In this order: a link inside a code block or a code span is none.
LINK = re.compile(
    r"^(?P<fence>(?P<indent> *)```\w*)[^\n]*(?P<rest>.*?^(?P=indent)```)"
    r"|(?P<image>!?)\[(?P<text>(?:[^\[\]`]|`[^`\n]*`)*)\]\((?P<target>[^()\s]+)\)"
    r"|`[^`\n]+`"
    r"|^(?P<item> {3})(?=\S)"
    r'|(?P<attribute>src|srcset)="(?P<source>[^"]+)"',
    re.MULTILINE | re.DOTALL,
)


def sections():
    """Yields each section of the index: its title, and (title, path, sentence) of its pages."""
    for part in (ROOT / INDEX).read_text().split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        rows = re.findall(r"^\| .+ \|$", body, re.MULTILINE)[1:]
        pages = re.findall(r"^\| \[([^]]+)\]\(([^)]+)\) \| (.+) \|$", body, re.MULTILINE)
        if not pages or len(pages) < len(rows):
            raise SystemExit(f"{INDEX} needs a table below {title} whose rows begin with a link")
        yield title, [(name, posixpath.normpath(posixpath.join("docs", to)), sentence) for name, to, sentence in pages]


def uri(path):
    """Returns the place of a file of the repository below the site's sources."""
    if path == CONTRACT:
        return REFERENCE
    return path.removeprefix("docs/") if path.startswith("docs/") else "repository/" + path


def path(uri):
    """Returns the file of the repository at a place below the site's sources."""
    return uri.removeprefix("repository/") if uri.startswith("repository/") else "docs/" + uri


def decisions():
    """Yields the title, the path and the first sentence of each decision, in their order."""
    for file in sorted((ROOT / "docs/adr").glob("[0-9]*.md")):
        text = file.read_text()
        sentence = re.search(r"^## Decision\n\n(.+?\.)(\s|$)", text, re.MULTILINE)[1]
        yield text.partition("\n")[0].removeprefix("# "), f"docs/adr/{file.name}", re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", sentence)


def on_config(config):
    config.copyright = f"Surehook {os.environ['VERSION']}"
    config.nav = [{"Documents": uri(INDEX)}]
    for title, pages in sections():
        nav = []
        for name, to, _ in pages:
            if to == "docs/adr/README.md":
                nav.append({name: [{"All decisions": uri(to)}] + [{t: uri(p)} for t, p, _ in decisions()]})
            else:
                nav.append({name: uri(to)})
        config.nav.append({title: nav})
    return config


def on_files(files, config):
    for _, pages in sections():
        for _, to, _ in pages:
            if not to.startswith("docs/") and to != CONTRACT:
                files.append(File.generated(config, uri(to), abs_src_path=str(ROOT / to)))

    page = (ROOT / "api/docs/page.html").read_text().replace("/docs/", "").replace("/v1/openapi.yaml", "openapi.yaml")
    page = page.replace("</head>", '<link rel="stylesheet" href="../reference.css">\n</head>')
    page = page.replace("<body>", '<body>\n<p><a href="../">Documents</a> ' + config.copyright + "</p>")
    start = (ROOT / "api/docs/start.js").read_text().replace("/v1/openapi.yaml", "openapi.yaml")
    # A site of documents has no API to try.
    start = start.replace("deepLinking", "supportedSubmitMethods: [],\n  deepLinking")
    files.append(File.generated(config, REFERENCE, content=page))
    files.append(File.generated(config, "reference/start.js", content=start))
    files.append(File.generated(config, "reference/openapi.yaml", abs_src_path=str(ROOT / CONTRACT)))
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        files.append(File.generated(config, f"reference/{name}", abs_src_path=str(ROOT / "api/docs/dist" / name)))
    for name in ("site.css", "reference.css"):
        files.append(File.generated(config, name, abs_src_path=str(Path(__file__).with_name(name))))
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    folder = posixpath.dirname(path(here))
    if boost := 0.01 if here.startswith("adr/") else BOOSTS.get(here):
        page.meta["search"] = {"boost": boost}

    def site(target):
        """Returns the link for a target of this page, or None if nothing on the site has it."""
        if re.match(r"[a-z]+:|#", target):
            return target
        to, hash_, anchor = target.partition("#")
        to = posixpath.normpath(posixpath.join(folder, to))
        for candidate in (to, to + "/README.md"):
            if files.get_file_from_path(uri(candidate)):
                return posixpath.relpath(uri(candidate), posixpath.dirname(here) or ".") + hash_ + anchor
        if not (ROOT / to).exists():
            return target  # MkDocs says that it is missing
        return f"{config.repo_url.rstrip('/')}/blob/{os.environ['REF']}/{to}{hash_}{anchor}" if config.repo_url else None

    def replace(found):
        if found["attribute"]:
            # HTML has the place of the page, a folder below that of its source but for a README.
            place = posixpath.splitext(here)[0].removesuffix("README") or "."
            return f'{found["attribute"]}="{posixpath.relpath(uri(posixpath.normpath(posixpath.join(folder, found["source"]))), place)}"'
        if found["item"]:
            return " " * 4  # GitHub takes three for what belongs to "1. "
        if found["fence"]:
            block = found["fence"] + found["rest"]  # without the words after the language
            return block.replace("\n", "\n ").replace("   ```", "    ```", 1) if found["indent"] else block
        if not found["target"]:
            return found[0]
        target, text = site(found["target"]), found["text"]
        if target is None:
            return text
        if found["image"] and "-light." in target:
            return f"![{text}]({target}#only-light)![{text}]({target.replace('-light.', '-dark.')}#only-dark)"
        return f"{found['image']}[{text}]({target})"

    markdown = LINK.sub(replace, markdown)
    sources[here] = markdown
    return DIAGRAM.sub(diagram, TABS.sub(tabs, markdown))


# GitHub draws these itself.
DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def diagram(found):
    """Returns a diagram as SVG; a blank line would end the block of HTML."""
    svg = subprocess.run(["node", Path(__file__).with_name("diagram.js")], input=found[1], stdout=subprocess.PIPE, text=True, check=True).stdout
    return f"<div>{svg}</div>"


# A block of the shell, and then the same in other languages: GitHub folds them, and the site has tabs.
FOLDED = r"<details><summary>(?P<language>\w+)</summary>\n\n(?P<block>```\w+\n.*?^```)\n\n</details>\n"
TABS = re.compile(r"^(?P<shell>```sh\n(?:(?!^```).)*^```)\n\n(?P<folded>(?:FOLDED\n?)+)".replace("FOLDED", re.sub(r"\?P<\w+>", "?:", FOLDED)), re.MULTILINE | re.DOTALL)


def tabs(found):
    blocks = [("curl", found["shell"])] + [(one["language"], one["block"]) for one in re.finditer(FOLDED, found["folded"], re.MULTILINE | re.DOTALL)]
    return "".join(f'=== "{language}"\n\n' + re.sub(r"(?m)^(?=.)", "    ", block) + "\n\n" for language, block in blocks)


sources = {}  # the Markdown of each page, for llms.txt


def operations():
    """Yields an entry of the search for each operation of the contract, below one for its page."""
    place = REFERENCE.removesuffix("index.html")
    yield {"location": place, "title": "API reference", "text": "Every operation, field and error."}
    for path, item in yaml.safe_load((ROOT / CONTRACT).read_text())["paths"].items():
        for method, operation in item.items():
            if method in ("get", "put", "post", "patch", "delete"):
                yield {
                    "location": f"{place}#/{operation['tags'][0]}/{operation['operationId']}",
                    "title": f"{operation['summary']}: {method.upper()} {path}",
                    "text": f"{operation.get('description', '')} {operation.get('x-method', '')}".replace("`", ""),
                    "boost": 0.5,  # a guide that says the same stands before
                }


@event_priority(100)  # before the search writes its index
def on_post_build(config):
    """Adds the operations to the search. Writes llms.txt (llmstxt.org), and the Markdown of the pages, to which it leads."""
    config.plugins["material/search"].search_index.entries.extend(operations())
    out = Path(config.site_dir)
    base = config.site_url or ""

    def line(name, to, sentence):
        return f"- [{name}]({urljoin(base, uri(to) if to != CONTRACT else 'reference/openapi.yaml')}): {sentence}\n"

    text = f"# {config.site_name}\n\n> {config.site_description}\n"
    for title, pages in sections():
        text += f"\n## {title}\n\n" + "".join(line(*page) for page in pages)
    text += "\n## Optional\n\n" + "".join(line(*page) for page in decisions())
    (out / "llms.txt").write_text(text)
    for to, markdown in sources.items():
        file = out / to
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(markdown)
