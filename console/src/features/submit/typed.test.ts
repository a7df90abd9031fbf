import { describe, expect, it } from 'vitest';
import { readSchema } from './schema';
import { patchText, readText, writeText } from './text';

const scalar = { type: ['string', 'number', 'boolean'] };
const text = { type: 'string', maxLength: 100 };
const root = readSchema({
  type: 'object',
  properties: {
    name: text,
    image: text,
    cpus: { type: 'number', minimum: 0, maximum: 9 },
    shared: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    env: { type: 'object', additionalProperties: scalar },
    parameters: { type: 'object', additionalProperties: scalar },
    tags: { type: 'array', items: text },
    environment: { anyOf: [{ type: 'object', properties: { python: text } }, { type: 'null' }] },
    extras: { type: 'object', additionalProperties: {} },
  },
});
const doc = (file: string) => readText(file, 'yaml', root).doc;

describe('a word of the file', () => {
  it('is a text where a text is meant', () => {
    const words = ['0042', '1.10', '1e5', '0x10', 'True', 'null', '~', '.inf', '1.0', '12345678901234567890'];
    for (const word of words) {
      expect(doc(`env: {X: ${word}}\nparameters: {P: ${word}}\ntags: [${word}]`)).toEqual({
        env: { X: word },
        parameters: { P: word },
        tags: [word],
      });
    }
    expect(doc('name: 2024\nenvironment: {python: 3.10}')).toEqual({
      name: '2024',
      environment: { python: '3.10' },
    });
  });

  it('stays a number or a flag where it is written back the same', () => {
    const parameters = { epochs: 5, rate: 0.01, fast: true, name: 'x' };
    expect(doc('parameters: {epochs: 5, rate: 0.01, fast: true, name: x}')).toEqual({ parameters });
  });

  it('is what it looks like in every other field', () => {
    expect(doc('cpus: 1.50\nshared: True\nextras: {a: 1.10, b: null}')).toEqual({
      cpus: 1.5,
      shared: true,
      extras: { a: 1.1, b: null },
    });
  });

  it('is nothing as the value of a field that is left empty', () => {
    expect(doc('image: null\nname:\nenv: {X: }')).toEqual({ image: null, name: null, env: { X: null } });
  });

  it('is itself as a key', () => {
    expect(doc('env: {1.10: a, null: b}')).toEqual({ env: { '1.10': 'a', null: 'b' } });
  });

  it('keeps its text in JSON', () => {
    expect(readText('{"parameters": {"P": 1.10}}', 'json', root).doc).toEqual({ parameters: { P: '1.10' } });
  });

  it('survives a change by the form, and being written anew', () => {
    const file = '# mine\nenv: {X: 0042}\ncpus: 1\n';
    const wanted = { env: { X: '0042' }, cpus: 2 };
    expect(patchText(file, ['cpus'], 2, wanted, root)).toBe('# mine\nenv: { X: "0042" }\ncpus: 2\n');
    expect(doc(writeText(wanted, 'yaml'))).toEqual(wanted);
  });
});
