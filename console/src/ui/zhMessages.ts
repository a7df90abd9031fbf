import { words } from './words';
import { RULES } from './zhMessageRules';

type Turn = (text: string) => string;

const table =
  (entries: Record<string, string>): Turn =>
  (text) =>
    entries[text] ?? text;

const listed: Turn = (text) => text.replace(/ and (?=[^,]*$)/, ', ').replaceAll(', ', '、');

/** What stands for a part of a message, by the name that its rule gives to the part. */
const PARTS: Record<string, Turn> = {
  kind: table({
    nothing: '空值',
    'a yes/no value': '是/否值',
    'a text': '文本',
    'a number': '数字',
    'a mapping': '映射',
    'a list': '列表',
  }),
  form: table({
    'letters, digits and . _ ~ -, beginning with a letter or digit':
      '字母、数字和 . _ ~ -，且以字母或数字开头',
    'letters, digits and . _ ~ (no -), beginning with a letter or digit':
      '字母、数字和 . _ ~（不能有 -），且以字母或数字开头',
    'letters, digits and . _ -, beginning with a letter or digit': '字母、数字和 . _ -，且以字母或数字开头',
    'letters, digits, _ and -, beginning with a letter or _': '字母、数字、_ 和 -，且以字母或 _ 开头',
    'letters, digits and _, beginning with a letter or _': '字母、数字和 _，且以字母或 _ 开头',
    'letters, digits and . _ -': '字母、数字和 . _ -',
    'an image name without spaces': '不含空格的镜像名',
    'a GPU type': 'GPU 型号',
    'the digest of an upload, sha256:…': '上传内容的摘要 sha256:…',
    'one word': '一个词',
  }),
  amounts: (text) =>
    listed(text)
      .replace(/(\d+) GPUs? of type ([^、]+)/g, '$1 张 $2 GPU')
      .replace(/(\d+) GPUs?/g, '$1 张 GPU')
      .replace(/([\d.e+]+) CPUs?/g, '$1 核 CPU')
      .replace(/(\S+) of memory/g, '$1 内存'),
  whose: (text) => text.replace(/^ of queue (.+)$/, '队列 $1 的').replace(/^ in service$/, '在用的'),
  known: (text) => (text === 'none are set' || text === 'none' ? '无' : listed(text)),
  list: listed,
  hint: (text) => (text === '' ? '' : (zhOf(text) ?? text)),
  why: (text) => zhOf(text) ?? text,
  state: (text) => (words.zh.states as Record<string, string>)[text] ?? text,
  verb: table({
    edit: '修改',
    stop: '停止',
    retry: '重试',
    delete: '删除',
    restore: '恢复',
    release: '释放',
  }),
  files: table({ output: '输出', checkpoints: '检查点', code: '代码', work: '工作目录' }),
};

interface Rule {
  pattern: RegExp;
  names: string[];
  says: string;
}

const PART = /\{(\w+?)(\d?)(\??)\}/g;
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function compile([english, says]: readonly [string, string]): Rule {
  const names: string[] = [];
  let source = '';
  let at = 0;
  for (const found of english.matchAll(PART)) {
    source += escaped(english.slice(at, found.index)) + (found[3] ? '(.*?)' : '(.+?)');
    names.push(`${found[1]}${found[2]}`);
    at = found.index + found[0].length;
  }
  return { pattern: new RegExp(`^${source}${escaped(english.slice(at))}$`, 's'), names, says };
}

let compiled: Rule[] | undefined;

/** A sentence of the server's in Chinese; undefined where no rule knows it. */
export function zhOf(message: string): string | undefined {
  compiled ??= RULES.map(compile);
  for (const { pattern, names, says } of compiled) {
    const found = pattern.exec(message);
    if (found) return fill(says, new Map(names.map((name, i) => [name, found[i + 1] ?? ''])));
  }
  return undefined;
}

function fill(says: string, parts: Map<string, string>): string {
  return says.replace(/\{(\w+?)(\d?)\}/g, (_, name: string, number: string) => {
    const text = parts.get(name + number) ?? '';
    return PARTS[name]?.(text) ?? text;
  });
}
