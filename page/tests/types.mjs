// node types.mjs TOOLS: checks the types of the page's TypeScript, which the build only bundles. Exit
// codes: 0 right, 77 skipped, since npm's packages are missing, else wrong.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const compiler = join(process.argv[2], 'node_modules/typescript/lib/tsc.js');
if (!existsSync(compiler)) {
  console.log(`SKIPPED: the types of the page are not checked, for want of ${compiler}`);
  process.exit(77);
}
const page = fileURLToPath(new URL('..', import.meta.url));
process.exit(spawnSync(process.execPath, [compiler, '--project', page], { stdio: 'inherit' }).status ?? 1);
