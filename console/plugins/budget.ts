import { gzipSync } from 'node:zlib';
import type { Plugin, Rollup } from 'vite';

/** Says how much script a first load brings, and fails the build when it is more than allowed. */
export function budget(mostKb: number): Plugin {
  return {
    name: 'footplate-budget',
    apply: 'build',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const sizeKb = (names: Iterable<string>) => {
        let bytes = 0;
        for (const name of names) {
          const file = bundle[name];
          if (file?.type === 'chunk') bytes += gzipSync(file.code).length;
        }
        return bytes / 1000;
      };
      const entry = chunks.find((chunk) => chunk.isEntry && chunk.name === 'index');
      if (!entry) throw new Error('the build has no entry');
      const shellKb = sizeKb(needed(entry, bundle));
      this.info(`first script: ${shellKb.toFixed(0)} kB gzip`);
      for (const page of chunks.filter((chunk) => chunk.isDynamicEntry && chunk.name.endsWith('Page'))) {
        const all = new Set([...needed(entry, bundle), ...needed(page, bundle)]);
        const totalKb = sizeKb(all);
        this.info(`first load of ${page.name}: ${totalKb.toFixed(0)} kB gzip of ${mostKb}`);
        if (totalKb > mostKb) this.error(`${page.name} brings more than ${mostKb} kB of script: split it`);
      }
    },
  };
}

/** A chunk with everything that it imports at once. */
function needed(start: Rollup.OutputChunk, bundle: Rollup.OutputBundle): Set<string> {
  const found = new Set<string>();
  const left = [start.fileName];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    const file = bundle[name];
    if (found.has(name) || file?.type !== 'chunk') continue;
    found.add(name);
    left.push(...file.imports);
  }
  return found;
}
