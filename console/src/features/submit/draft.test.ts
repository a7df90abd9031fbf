import { describe, expect, it } from 'vitest';
import { isMapping, type Mapping, parsePath, pathText, valueAt, withValue } from './document';
import { changeDraft, newDraft } from './draft';
import { freeName } from './names';
import { asSingle, isDistributed, nTasks, withOneMoreRole, withRoleList } from './roles';
import { TEMPLATES, templateNames, withTemplate } from './templates';
import * as text from './text';

const order = ['name', 'queue', 'command'];
const change = changeDraft(order, text);
const blank = newDraft({ name: 'a', command: 'x', odd: { kept: [1] } });
const first = change(blank, { kind: 'write' });

describe('the draft', () => {
  it('writes into the text what was typed into the form, and unknown fields survive', () => {
    const next = change(first, { kind: 'field', path: ['queue'], value: 'q' });
    expect(next.text).toBe('name: a\nqueue: q\ncommand: x\nodd:\n  kept:\n    - 1\n');
  });

  it('fills the form from what was typed into the text, and leaves the text as it was typed', () => {
    const typed = 'name:    b   # mine\nodd: {kept: [1]}';
    const next = change(first, { kind: 'typed', text: typed });
    expect(next).toMatchObject({ doc: { name: 'b', odd: { kept: [1] } }, text: typed, fault: null });
  });

  it('keeps the last document while the text is broken', () => {
    const broken = change(first, { kind: 'typed', text: 'name: "b' });
    expect(broken.doc).toEqual(first.doc);
    expect(broken.fault?.line).toBe(1);
    expect(change(broken, { kind: 'format', format: 'json' })).toBe(broken);
    expect(change(broken, { kind: 'forget text' }).text).toBe(first.text);
  });

  it('turns YAML into JSON and back without a loss', () => {
    const json = change(first, { kind: 'format', format: 'json' });
    expect(JSON.parse(json.text ?? '')).toEqual(first.doc);
    expect(change(json, { kind: 'format', format: 'yaml' }).doc).toEqual(first.doc);
  });
});

describe('the draft before its text can be written', () => {
  const early = changeDraft(order, undefined);

  it('takes what is typed into the form, and writes all of it later', () => {
    const typed = early(blank, { kind: 'field', path: ['queue'], value: 'q' });
    expect(typed).toMatchObject({ doc: { name: 'a', queue: 'q' }, text: null });
    const written = change(early(typed, { kind: 'format', format: 'json' }), { kind: 'write' });
    expect(JSON.parse(written.text ?? '')).toEqual(typed.doc);
    expect(change(written, { kind: 'write' })).toBe(written);
  });
});

describe('paths', () => {
  it('are written as the server writes them, and read back', () => {
    const path = ['roles', 0, 'ports', 2, 'label'];
    expect(pathText(path)).toBe('roles[0].ports[2].label');
    expect(parsePath(pathText(path))).toEqual(path);
  });

  it('lead to values that can be set and taken away', () => {
    const doc = { roles: [{ name: 'a' }, { name: 'b' }] };
    expect(valueAt(doc, ['roles', 1, 'name'])).toBe('b');
    expect(withValue(doc, ['roles', 0, 'cpus'], 2)).toEqual({
      roles: [{ name: 'a', cpus: 2 }, { name: 'b' }],
    });
    expect(withValue(doc, ['roles', 0], undefined)).toEqual({ roles: [{ name: 'b' }] });
    expect(withValue({ a: 1 }, ['a'], undefined)).toEqual({});
    expect(valueAt({}, ['constructor'])).toBeUndefined();
  });
});

describe('single and distributed', () => {
  const short = { name: 'a', command: 'x', cpus: 2, env: { A: '1' }, odd: 1 };

  it('are two forms of one job', () => {
    const listed = withRoleList(short);
    expect(listed).toEqual({
      name: 'a',
      env: { A: '1' },
      odd: 1,
      roles: [{ name: 'worker', command: 'x', cpus: 2 }],
    });
    expect(asSingle(listed)).toEqual(short);
    expect(isDistributed(short)).toBe(false);
    expect(isDistributed(listed)).toBe(true);
  });

  it('gives a new role a name that is free', () => {
    const doc = withOneMoreRole({ roles: [{ name: 'role2', count: 3 }] });
    expect(Array.isArray(doc.roles) && doc.roles.map((role) => isMapping(role) && role.name)).toEqual([
      'role2',
      'role3',
    ]);
    expect(nTasks(doc)).toBe(4);
  });

  it('has a template for each strategy, also one that a plug-in brought', () => {
    expect(templateNames(['torchrun', 'ring'])).toEqual(['single', 'torchrun', 'parameter-server', 'ring']);
    expect(withTemplate(short, 'ring', { hasGpus: true, isSmall: false })).toMatchObject({
      name: 'a',
      env: { A: '1' },
      strategy: 'ring',
      roles: [{ count: 2, gpus: 1 }],
    });
    for (const name of Object.keys(TEMPLATES)) {
      expect(withTemplate(short, name, { hasGpus: false, isSmall: true }).odd).toBe(1);
    }
  });
});

describe('the switch between one task and many', () => {
  const worker: Mapping = { name: 'worker', count: 4, command: 'work', completion: { min_failed: 1 } };
  const doc: Mapping = {
    name: 'a',
    env: { ALL: '1' },
    strategy: 'tensorflow',
    roles: [{ name: 'ps', count: 1, command: 'serve', cpus: 1, env: { OWN: '2' } }, worker],
  };
  const typed = change(newDraft({}), { kind: 'typed', text: text.writeText(doc, 'yaml', order) });
  const single = change(typed, { kind: 'tasks', wantsMany: false });

  it('brings back everything as it was typed, comments included', () => {
    const commented = change(first, { kind: 'typed', text: `# mine\n${typed.text}` });
    const there = change(commented, { kind: 'tasks', wantsMany: false });
    const back = change(there, { kind: 'tasks', wantsMany: true });
    expect(there.doc).toMatchObject({ command: 'serve', env: { ALL: '1', OWN: '2' } });
    expect(back.doc).toEqual(doc);
    expect(back.text).toBe(commented.text);
  });

  it('keeps what was changed in the single task, in the role it came from', () => {
    const changed = [
      { kind: 'field', path: ['command'], value: 'serve better' } as const,
      { kind: 'field', path: ['cpus'], value: undefined } as const,
      { kind: 'field', path: ['env', 'NEW'], value: '3' } as const,
    ].reduce(change, single);
    const back = change(changed, { kind: 'tasks', wantsMany: true });
    expect(back.doc).toEqual({
      ...doc,
      roles: [
        { name: 'ps', count: 1, command: 'serve better', env: { ALL: '1', OWN: '2', NEW: '3' } },
        worker,
      ],
    });
  });

  it('brings back the number of tasks of a job in the short form', () => {
    const short = change(newDraft({}), {
      kind: 'document',
      doc: { command: 'x', count: 3, strategy: 'ddp' },
    });
    const there = change(short, { kind: 'tasks', wantsMany: false });
    expect(there.doc).toEqual({ command: 'x' });
    expect(change(there, { kind: 'tasks', wantsMany: true }).doc).toEqual(short.doc);
  });

  it('has nothing to bring back into another document', () => {
    const other = change(single, { kind: 'document', doc: { name: 'b', command: 'y' } });
    const many = change(other, { kind: 'tasks', wantsMany: true });
    expect(many.doc).toEqual({ name: 'b', roles: [{ name: 'worker', command: 'y' }] });
    expect(change(many, { kind: 'draft', draft: single })).toEqual(single);
  });
});

describe('the proposed name', () => {
  it('counts on to the first that is free', () => {
    expect(freeName('a', new Set())).toBe('a-2');
    expect(freeName(`${'x'.repeat(253)}-9`, new Set())).toBe(`${'x'.repeat(247)}-10`);
    expect(freeName('a-2', new Set(['a-3', 'a-4']))).toBe('a-5');
    expect(freeName('a', new Set(['a-2']))).toBe('a-3');
  });
});
