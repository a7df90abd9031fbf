/** Which files of a folder stay behind: the rules of `footplate submit`, which are those of `.gitignore`. */
export const IGNORE_FILES = ['.gitignore', '.footplateignore'] as const;
const ALWAYS = new Set(['.git', '.venv', '__pycache__', 'node_modules']);

interface Rule {
  pattern: RegExp;
  isNegated: boolean;
  isForFolders: boolean;
}

/** The rules of one folder; `base` is its path with a slash at the end, unless it is the root. */
export interface Scope {
  base: string;
  rules: readonly Rule[];
}

export function readScope(base: string, texts: readonly string[]): Scope | undefined {
  const rules = texts.flatMap((text) => text.split('\n')).flatMap((line) => readRule(line) ?? []);
  return rules.length > 0 ? { base, rules } : undefined;
}

function readRule(line: string): Rule | undefined {
  let text = line.trimEnd();
  if (!text || text.startsWith('#')) return undefined;
  const isNegated = text.startsWith('!');
  text = text.replace(/^!/, '').replace(/^\\/, '');
  const isForFolders = text.endsWith('/');
  text = text.replace(/\/+$/, '');
  if (!text) return undefined;
  const anywhere = text.includes('/') ? '' : '(?:.*/)?';
  return {
    pattern: new RegExp(`^${anywhere}${translate(text.replace(/^\/+/, ''))}$`, 's'),
    isNegated,
    isForFolders,
  };
}

/** Whether a path stays behind; the last rule that matches decides. */
export function isIgnored(path: string, isFolder: boolean, scopes: readonly Scope[]): boolean {
  if (ALWAYS.has(path.split('/').at(-1) ?? '')) return true;
  for (const scope of [...scopes].reverse()) {
    const inner = path.slice(scope.base.length);
    for (const rule of [...scope.rules].reverse()) {
      if ((isFolder || !rule.isForFolders) && rule.pattern.test(inner)) return !rule.isNegated;
    }
  }
  return false;
}

const TOKEN = /\*\*\/|\/\*\*|\*\*|\*|\?|\[!?\]?[^\]/]*\]|./gs;
const SIMPLE: Record<string, string> = {
  '**/': '(?:.*/)?',
  '/**': '/.*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};

function translate(glob: string): string {
  return glob.replace(TOKEN, (token) => {
    const simple = SIMPLE[token];
    if (simple !== undefined) return simple;
    if (token.startsWith('[') && token.length > 2) {
      const inside = token.slice(1, -1).replaceAll('\\', '\\\\').replaceAll('[', '\\[');
      return inside.startsWith('!') ? `[^${inside.slice(1)}]` : `[${inside}]`;
    }
    return token.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  });
}
