import { describe, expect, it } from 'vitest';
import { hasComments, patchText, readText, writeText } from './text';

const doc = (text: string) => readText(text, 'yaml').doc;
const fault = (text: string, format: 'yaml' | 'json' = 'yaml') => readText(text, format).fault;

describe('the text beside the form', () => {
  it('reads what it wrote, whatever the values look like', () => {
    const values = {
      name: 'a',
      command: 'one\ntwo\n',
      env: { A: 'yes', B: '1e3', C: 'null', D: '', E: '0x1F', F: ' lead', G: 'tab\there', H: '#x', on: 'no' },
      parameters: { x: 0.1, y: -3, z: true, long: 'word '.repeat(60) },
      tags: [],
      extras: { nested: [{ deep: [null, 1] }] },
    };
    for (const format of ['yaml', 'json'] as const) {
      expect(readText(writeText(values, format), format).doc).toEqual(values);
    }
  });

  it('writes fields in the order of the job file, and unknown ones last', () => {
    const written = writeText({ zeta: 1, queue: 'q', name: 'n' }, 'yaml', ['name', 'queue']);
    expect(written).toBe('name: n\nqueue: q\nzeta: 1\n');
  });

  it('says the line of what cannot be read', () => {
    expect(fault('name: a\ncommand: "x')?.line).toBe(2);
    expect(fault('name: a\nname: b')).toMatchObject({ line: 2, code: 'DUPLICATE_KEY' });
    expect(fault('{"name": "a",\n "cpus": }', 'json')).toMatchObject({ line: 2, code: 'NO_JSON' });
    expect(fault('- a')).toMatchObject({ code: 'NO_MAPPING' });
    expect(fault('cpus: .inf')).toMatchObject({ line: 1, code: 'NOT_FINITE' });
    expect(fault('name: *gone')).toMatchObject({ code: 'ALIAS' });
  });

  it('keeps every digit of a number that a browser would round', () => {
    expect(doc('parameters: {seed: 18446744073709551615}')).toEqual({
      parameters: { seed: '18446744073709551615' },
    });
  });

  it('takes an empty text for an empty document', () => {
    expect(doc('')).toEqual({});
    expect(doc('# nothing yet')).toEqual({});
  });

  it('follows aliases and merges as the server does', () => {
    expect(doc('env: &e {A: "1"}\nroles:\n  - env: {<<: *e, B: "2"}')).toEqual({
      env: { A: '1' },
      roles: [{ env: { A: '1', B: '2' } }],
    });
  });

  it('keeps comments when the form changes one value', () => {
    const text = '# Mine\nname: a # short\ncpus: 1\n';
    expect(patchText(text, ['cpus'], 2, { name: 'a', cpus: 2 })).toBe('# Mine\nname: a # short\ncpus: 2\n');
    expect(patchText(text, ['cpus'], undefined, { name: 'a' })).toBe('# Mine\nname: a # short\n');
  });

  it('rewrites a text when a patch would give another document', () => {
    const text = '# x\nenv: &e {A: "1"}\nroles: [{env: *e}]\n';
    const wanted = { env: { A: '1' }, roles: [{ env: { A: '2' } }] };
    expect(patchText(text, ['roles', 0, 'env', 'A'], '2', wanted)).toBeUndefined();
  });
});

it('comments are found wherever they stand, and not in texts', () => {
  expect(hasComments('name: x # why\n')).toBe(true);
  expect(hasComments('# first\nname: x\n')).toBe(true);
  expect(hasComments('name: x\nroles:\n- command: "true"\n  # last\n')).toBe(true);
  expect(hasComments('name: x\ncommand: |\n  # of the shell\n  echo "a # b"\n')).toBe(false);
});
