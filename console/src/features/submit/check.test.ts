import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { boundsOf, check } from './check';
import type { Mapping } from './document';
import { fieldAt, readSchema } from './schema';

const SCHEMA_FILE = new URL('../../../../docs/reference/job-schema.json', import.meta.url);
const root = readSchema(JSON.parse(readFileSync(SCHEMA_FILE, 'utf8')));
const found = (doc: Mapping) =>
  Object.fromEntries(check(doc, root, 'en').map(({ path, message }) => [path, message]));

describe('the check of a document', () => {
  it('has nothing against a job that is right', () => {
    expect(found({ name: 'a', command: 'true' })).toEqual({});
    const roles: Mapping[] = [
      { name: 'ps', command: 'x', memory: '1.5GB', ports: ['http', { label: 'x', begin_at: 80 }] },
      { name: 'worker', command: 'x', count: 4, completion: { min_failed: null }, cpus: '0.5' },
    ];
    expect(found({ name: 'a', roles, time_limit: '1h 30m', deadline: null, services: ['shell'] })).toEqual(
      {},
    );
    expect(found({ name: 'a', command: 'x', environment: ['numpy>=2', 'einops'] })).toEqual({});
    expect(found({ name: 'a', command: 'x', hang: ['5m'] })).toEqual({ hang: 'Must be a mapping' });
  });

  it('says the bound of what is outside of it', () => {
    expect(
      found({ name: 'a', command: 'x', count: 20000, cpus: 0, memory: '1MB', gpus: -1, retry: 1.5 }),
    ).toEqual({
      count: 'Must be from 1 to 10000',
      cpus: 'Must be from 0.01 to 1024',
      memory: 'Must be from 16MB to 64TB',
      gpus: 'Must be from 0 to 1024',
      retry: 'Must be a whole number',
    });
    expect(found({ name: 'a', command: 'x', grace: '2h', time_limit: 'soon' })).toEqual({
      grace: 'Must be from 0s to 1h',
      time_limit: 'Must be a duration, such as 90s, 10m or 1h30m',
    });
  });

  it('names the field of every problem', () => {
    const roles: Mapping[] = [
      { name: 'w', comand: 'x' },
      { name: 'w', command: 'y' },
    ];
    const doc = {
      name: 'a b',
      roles,
      env: { '1A': 'x' },
      alerts: [{ on: 'never' }],
      code: '.',
    };
    expect(Object.keys(found(doc)).sort()).toEqual(
      [
        'alerts[0].on',
        'code',
        'env.1A',
        'name',
        'roles[0].comand',
        'roles[0].command',
        'roles[1].name',
      ].sort(),
    );
  });

  it('tells what is missing from what is wrong', () => {
    const problems = check({ name: '' }, root, 'en');
    expect(problems.map(({ path, isMissing }) => [path, isMissing])).toEqual([
      ['name', true],
      ['command', true],
    ]);
  });

  it('wants the fields of a task inside of the roles', () => {
    expect(Object.keys(found({ name: 'a', cpus: 2, roles: [{ command: 'x' }] }))).toEqual(['cpus']);
  });

  it('says bounds in both languages', () => {
    const field = (path: string) => fieldAt(root, path.split('.'));
    const bounds = (path: string, language: 'en' | 'zh') => {
      const found = field(path);
      return found && boundsOf(found, language);
    };
    expect(bounds('memory', 'en')).toBe('a size such as 512MB or 4GB; 16MB to 64TB');
    expect(bounds('time_limit', 'zh')).toBe('时长，例如 90s、10m 或 1h30m；1s 到 365d');
    expect(bounds('name', 'en')).toBe('letters, digits and . _ ~ -; at most 255 characters');
    expect(bounds('queue', 'zh')).toContain('字母、数字、. _ -');
    expect(bounds('image', 'en')).toContain('without spaces');
  });
});
