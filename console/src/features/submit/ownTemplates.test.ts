import { beforeEach, expect, test, vi } from 'vitest';
import { dropTemplate, keepTemplate, ownTemplates, withOwnTemplate } from './ownTemplates';

const storage = new Map<string, string>();
beforeEach(() => {
  storage.clear();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => storage.set(key, value),
  });
});

test('a template is kept without the name of its job, the newest first, for one person', () => {
  keepTemplate('ann', 'small', { name: 'job-1', cpus: 1 });
  keepTemplate('ann', 'large', { name: 'job-2', cpus: 8 });
  expect(ownTemplates('ann')).toEqual([
    { name: 'large', doc: { cpus: 8 } },
    { name: 'small', doc: { cpus: 1 } },
  ]);
  expect(ownTemplates('ben')).toEqual([]);
});

test('a name that is used again takes the place of the older template; one can be dropped', () => {
  keepTemplate('cat', 'mine', { cpus: 1 });
  keepTemplate('cat', 'mine', { cpus: 2 });
  expect(ownTemplates('cat')).toEqual([{ name: 'mine', doc: { cpus: 2 } }]);
  dropTemplate('cat', 'mine');
  expect(ownTemplates('cat')).toEqual([]);
});

test('what is broken is no template', () => {
  storage.set('footplate.templates.dan', '[{"name": "x", "doc": 3}, 7]');
  expect(ownTemplates('dan')).toEqual([]);
  storage.set('footplate.templates.dan', '{');
  expect(ownTemplates('dan')).toEqual([]);
});

test('the name that was typed stays', () => {
  const template = { name: 'mine', doc: { cpus: 2 } };
  expect(withOwnTemplate({ name: 'typed', gpus: 1 }, template)).toEqual({ name: 'typed', cpus: 2 });
  expect(withOwnTemplate({}, template)).toEqual({ cpus: 2 });
});
