import { expect, test } from 'vitest';
import { type Mapping, parsePath } from './document';
import { placeOf } from './places';

const doc: Mapping = { name: 'x', roles: [{ name: 'chief' }, {}] };
const place = (path: string, language: 'en' | 'zh' = 'en') => placeOf(parsePath(path), doc, language);

test('a problem is told with the place of its field in people’s words', () => {
  expect(place('gpus')).toBe('GPUs per task');
  expect(place('roles[0].command')).toBe('Command of role chief');
  expect(place('roles[1].command')).toBe('Command of role 2');
  expect(place('roles[0].ports[1].begin_at')).toBe('Ports 2: First port of role chief');
  expect(place('roles[0]')).toBe('Role chief');
  expect(place('data[1].path')).toBe('Data 2: Path');
  expect(place('env.MY_NAME')).toBe('Environment variables: MY_NAME');
  expect(place('roles')).toBe('Roles');
});

test('and in Chinese', () => {
  expect(place('roles[0].command', 'zh')).toBe('角色 chief 的命令');
  expect(place('data[1].path', 'zh')).toBe('数据第 2 项：路径');
});
