import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// The most script, compressed with gzip, that every visitor has to load: without the files that a
// page loads on demand, such as a language.
const mostScript = 250_000

// compress writes each text file in two compressed forms, because the function serves
// stored bytes only, and fails the build above mostScript.
function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
      order: 'post', // after Vite has put the names of files into the code
      handler(_, bundle) {
        let script = 0
        for (const file of Object.values(bundle)) {
          if (!/\.(js|css|svg)$/.test(file.fileName)) continue
          const source = Buffer.from(file.type === 'chunk' ? file.code : file.source)
          const gzip = gzipSync(source, { level: 9 })
          const brotli = brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
          if (file.type === 'chunk' && !file.isDynamicEntry) script += gzip.length
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gzip })
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.br`, source: brotli })
        }
        console.log(`script, compressed: ${script} bytes of at most ${mostScript}`)
        if (script > mostScript) this.error(`the script has ${script} bytes compressed; at most ${mostScript}`)
      },
    },
  }
}

export default defineConfig({
  base: '/web/',
  plugins: [react(), compress()],
  build: {
    target: 'es2022',
    emptyOutDir: false, // README.md stays
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
})
