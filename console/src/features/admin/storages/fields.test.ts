import { expect, test } from 'vitest';
import { bodyOf, fieldsOf } from './fields';

test('a bucket says nothing of a path, and a folder nothing of a bucket', () => {
  const fields = { ...fieldsOf(), path: '/srv/x', bucket: 'lake', endpoint: 'https://s3.example.com' };
  expect(bodyOf({ ...fields, kind: 's3' })).toMatchObject({
    bucket: 'lake',
    endpoint: 'https://s3.example.com',
  });
  expect(bodyOf({ ...fields, kind: 's3' })).not.toHaveProperty('path');
  expect(bodyOf({ ...fields, kind: 'folder' })).not.toHaveProperty('bucket');
  expect(bodyOf({ ...fields, kind: 'http' })).not.toHaveProperty('read_only');
});

test('credentials that were not typed stay as they are, unless they are to be forgotten', () => {
  const fields = { ...fieldsOf(), kind: 's3' as const };
  expect(bodyOf(fields)).not.toHaveProperty('credentials');
  expect(bodyOf({ ...fields, forgets: true }).credentials).toEqual({});
  expect(
    bodyOf({ ...fields, credentials: { access_key_id: 'AK', password: 'of http' } }).credentials,
  ).toEqual({
    access_key_id: 'AK',
  });
});

test('a quota is typed in GB; none is none', () => {
  expect(bodyOf({ ...fieldsOf(), quota_bytes: '1.5' }).quota_bytes).toBe(1.5 * 1024 ** 3);
  expect(bodyOf(fieldsOf()).quota_bytes).toBeNull();
});
