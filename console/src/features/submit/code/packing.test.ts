import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Given } from '@/ui/dropped';
import { choose } from './choose';
import { tarGz } from './tar';

const given = (files: Record<string, string>): Given[] =>
  Object.entries(files).map(([path, text]) => ({
    path,
    file: new File([text], path.split('/').at(-1) ?? ''),
  }));
const names = async (files: Record<string, string>) =>
  (await choose(given(files))).files.map(({ name }) => name);

describe('the choice of files', () => {
  it('sends an archive as it is', async () => {
    const chosen = await choose(given({ 'code.tar.gz': 'x' }));
    expect(chosen.archive?.size).toBe(1);
  });

  it('sends the content of one folder, without its name', async () => {
    expect(await names({ 'proj/train.py': '', 'proj/lib/a.py': '' })).toEqual(['lib/a.py', 'train.py']);
    expect(await names({ 'train.py': '' })).toEqual(['train.py']);
    expect(await names({ 'one/a.py': '', 'two/b.py': '' })).toEqual(['one/a.py', 'two/b.py']);
  });

  it('leaves out what may hold secrets, and says so, unless it is asked for', async () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----';
    const files = { 'p/.env': 'A=1', 'p/deploy.pem': key, 'p/ca.pem': 'CERTIFICATE', 'p/train.py': '' };
    const chosen = await choose(given(files));
    expect(chosen.files.map(({ name }) => name)).toEqual(['ca.pem', 'train.py']);
    expect(chosen.leftOut).toEqual(['.env', 'deploy.pem']);
    const asked = await names({ ...files, 'p/.footplateignore': '!.env\n' });
    expect(asked).toEqual(['.env', '.footplateignore', 'ca.pem', 'train.py']);
  });

  it('leaves behind what the ignore files name', async () => {
    const files = {
      'p/.gitignore': '*.pt\n!keep.pt\n/data/\n# no\n',
      'p/.footplateignore': 'out\n',
      'p/a.pt': '',
      'p/keep.pt': '',
      'p/data/x': '',
      'p/lib/data/x': '',
      'p/lib/.gitignore': 'tmp*\n',
      'p/lib/tmp1': '',
      'p/tmp1': '',
      'p/out/log': '',
      'p/__pycache__/x.pyc': '',
      'p/.git/HEAD': '',
    };
    expect(await names(files)).toEqual(
      ['.footplateignore', '.gitignore', 'keep.pt', 'lib/.gitignore', 'lib/data/x', 'tmp1'].sort(),
    );
  });
});

interface IgnoreCase {
  title: string;
  ignore: Record<string, string>;
  ignored: string[];
  sent: string[];
}

// The command line is tested with the same cases, and git beside it.
const SAMPLES = new URL('../../../../../tests/samples/ignore_rules.json', import.meta.url);
const CASES = JSON.parse(readFileSync(SAMPLES, 'utf8')) as IgnoreCase[];

describe('the ignore rules', () => {
  it.each(CASES)('$title', async ({ ignore, ignored, sent }) => {
    const empty = Object.fromEntries([...ignored, ...sent].map((path) => [path, '']));
    const chosen = new Set(await names({ ...empty, ...ignore }));
    expect(ignored.filter((path) => chosen.has(path))).toEqual([]);
    expect(sent.filter((path) => !chosen.has(path))).toEqual([]);
  });
});

describe('the archive', () => {
  it('unpacks to the same files with the real tar, long and foreign names too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tar-'));
    try {
      const long = `${'deep/'.repeat(30)}文件.txt`;
      const files = { 'run.sh': '#!/bin/sh\necho hi\n', [long]: 'x'.repeat(1000), empty: '' };
      const { files: chosen } = await choose(given(files));
      const packed = await tarGz(chosen);
      writeFileSync(join(folder, 'c.tar.gz'), new Uint8Array(await packed.arrayBuffer()));
      execFileSync('tar', ['-xzf', 'c.tar.gz'], { cwd: folder });
      for (const [name, text] of Object.entries(files)) {
        expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
      }
      expect(statSync(join(folder, 'run.sh')).mode & 0o777).toBe(0o755);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
