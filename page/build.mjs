// node build.mjs TOOLS OUT.cc: checks the TypeScript, bundles it into pages, and writes them as a source
// of C++. TOOLS is a folder with the node_modules of package-lock.json.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [tools, out] = process.argv.slice(2);
if (tools === undefined || out === undefined) {
  console.error('usage: node build.mjs TOOLS OUT.cc');
  process.exit(2);
}
const require = createRequire(join(resolve(tools), 'package.json'));

try {
  execFileSync(process.execPath, [require.resolve('typescript/lib/tsc.js'), '--project', here],
    { stdio: 'inherit' });
} catch {
  process.exit(1);  // tsc has said why
}

const style = readFileSync(join(here, 'src/page.css'), 'utf8').trim();
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const put = (page, mark, text) => {
  if (page.split(mark).length !== 2) throw new Error(`frame.html wants ${mark} once`);
  return page.split(mark).join(text);
};

// The page whose script and body are src/NAME.ts and src/NAME.html, before and after its data.
function pageOf(name) {
  const built = require('esbuild').buildSync({
    entryPoints: [join(here, `src/${name}.ts`)],
    bundle: true, minify: true, format: 'iife', target: 'es2022', charset: 'utf8', write: false,
    logLevel: 'warning',
  });
  const script = built.outputFiles[0].text.trim();
  // Only this script and this style may run, and nothing may be fetched from anywhere.
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
    "base-uri 'none'; form-action 'none'";
  let page = readFileSync(join(here, 'src/frame.html'), 'utf8');
  page = put(page, '@BODY@', readFileSync(join(here, `src/${name}.html`), 'utf8').trim());
  page = put(page, '@POLICY@', policy);
  page = put(page, '@STYLE@', style);
  page = put(page, '@SCRIPT@', script);
  const [before, after] = page.split('@DATA@');
  if (after === undefined) throw new Error('frame.html wants @DATA@');
  return { before, after };
}
// In the order of PageKind (cli/page.h).
const pages = ['main', 'compare', 'index', 'bench'].map(pageOf);

const array = (name, text) => {
  const bytes = [...Buffer.from(text, 'utf8')];
  const lines = [];
  for (let i = 0; i < bytes.length; i += 24) lines.push(`${bytes.slice(i, i + 24).join(',')},`);
  return `constexpr unsigned char ${name}[] = {\n${lines.join('\n')}\n};\n`;
};
writeFileSync(out, `// Written by page/build.mjs.
#include "cli/page.h"

namespace whorl::cli {
namespace {
${pages.map(({ before, after }, i) => array(`kBefore${i}`, before) + array(`kAfter${i}`, after)).join('')}
std::string_view Text(const unsigned char* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}
}  // namespace

PageParts BuiltPage(PageKind kind) {
  const PageParts pages[] = {
${pages.map((_, i) => `      {.before = Text(kBefore${i}, sizeof(kBefore${i})), .after = Text(kAfter${i}, sizeof(kAfter${i}))},`).join('\n')}
  };
  return pages[static_cast<size_t>(kind)];
}

}  // namespace whorl::cli
`);
