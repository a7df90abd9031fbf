import ignore from 'ignore';

/** Which files of a folder stay behind: the rules of `footplate submit`, which are git's for `.gitignore`. */
export const IGNORE_FILES = ['.gitignore', '.footplateignore'] as const;
const ALWAYS = new Set(['.git', '.venv', '__pycache__', 'node_modules']);

/** The text of one ignore file; `base` is its folder's path with a slash at the end, unless it is the root. */
export interface IgnoreFile {
  base: string;
  text: string;
}

/** Whether a folder is never sent, whatever the rules say. */
export const isNeverSent = (name: string) => ALWAYS.has(name);

/** What the ignore files say of a path. */
export interface IgnoreRules {
  staysBehind: (path: string) => boolean;
  /** Whether the last rule that names it says that it is to be sent. */
  isAsked: (path: string) => boolean;
}

/** The last rule that matches decides, those of inner folders last. */
export function ignoreRules(files: readonly IgnoreFile[]): IgnoreRules {
  const outerFirst = files.toSorted((one, other) => one.base.length - other.base.length);
  const rules = ignore({ ignorecase: false }).add(outerFirst.flatMap(linesFromRoot));
  return {
    staysBehind: (path) => path.split('/').some(isNeverSent) || rules.ignores(path),
    isAsked: (path) => rules.test(path).unignored,
  };
}

/** The lines of an ignore file as they would stand in one of the root. */
function linesFromRoot({ base, text }: IgnoreFile): string[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  return base ? lines.filter((line) => /^[^#]/.test(line)).map((line) => fromRoot(base, line)) : lines;
}

function fromRoot(base: string, line: string): string {
  const not = line.startsWith('!') ? '!' : '';
  const pattern = line.slice(not.length);
  // A slash that is not the last sign ties a pattern to its folder.
  const isTied = /\/(?=.*\S)/.test(pattern);
  return `${not}/${escaped(base)}${isTied ? '' : '**/'}${pattern.replace(/^\//, '')}`;
}

const escaped = (path: string) => path.replace(/[\\*?[\]!# ]/g, '\\$&');
