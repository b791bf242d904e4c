// @ts-check
// npm start: installs what the page needs when it is missing, builds when the sources are newer, serves on localhost.
import { build, isBuilt } from './lib/build.mjs';
import { install, missingPackages, requireNode } from './lib/install.mjs';
import { portFrom, serve } from './serve.mjs';

requireNode();
const args = process.argv.slice(2);
try {
  portFrom(args, 0);
  if (missingPackages(['dependencies']).length > 0 && (await install({ omitDev: true })) !== 0) process.exit(1);
  if (isBuilt()) console.log('The build in dist is up to date.');
  else {
    console.log('Building the page ...');
    if ((await build()) !== 0) {
      console.error('The build failed; its message stands above.');
      process.exit(1);
    }
  }
  await serve(args);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
