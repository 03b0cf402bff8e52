// Draws a Mermaid diagram, which GitHub draws by itself, as SVG for the page of a site: standard input to standard output.
// The colors are site.css's, so a diagram is light or dark with its page.
import { readFileSync } from 'node:fs'
import { renderMermaidSVG } from 'beautiful-mermaid'

const text = readFileSync(0, 'utf8')
const title = /^ *accTitle: (.+)\n/m.exec(text)
if (!title) throw new Error(`a diagram needs an accTitle, for readers who do not see it:\n${text}`)
const svg = renderMermaidSVG(text.replace(title[0], ''), { padding: 8, nodeSpacing: 12, layerSpacing: 28 })
process.stdout.write(
  svg
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/ style="--bg[^"]*"/, ` class="diagram" role="img" aria-label="${title[1]}"`)
    .replace(/\n\s*/g, ''),
)
