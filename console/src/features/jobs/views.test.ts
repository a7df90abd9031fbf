import { beforeEach, expect, test, vi } from 'vitest';
import { isSameView, keepViews, keptViews, MOST_VIEWS, viewOf } from './views';

const storage = new Map<string, string>();
beforeEach(() => {
  storage.clear();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => storage.set(key, value),
  });
});

test('views are kept for each person', () => {
  keepViews('ann', [{ name: 'failed', search: { state: ['FAILED'] } }]);
  expect(keptViews('ann')).toEqual([{ name: 'failed', search: { state: ['FAILED'] } }]);
  expect(keptViews('ben')).toEqual([]);
});

test('what is kept is bounded, and what is broken is no view', () => {
  keepViews(
    'ann',
    Array.from({ length: 50 }, (_, n) => ({ name: String(n), search: {} })),
  );
  expect(keptViews('ann')).toHaveLength(MOST_VIEWS);
  storage.set('footplate.views.ben', '{nonsense');
  expect(keptViews('ben')).toEqual([]);
  storage.set('footplate.views.cat', '[1, {"name": 2}, null]');
  expect(keptViews('cat')).toEqual([]);
});

test('the page is no part of a view, nor is the order of its parts', () => {
  expect(viewOf({ tag: 'x', after: 'token', search: undefined })).toEqual({ tag: 'x' });
  expect(isSameView({ tag: 'x', sort: 'name' }, { sort: 'name', tag: 'x', after: 'token' })).toBe(true);
  expect(isSameView({ tag: 'x' }, { tag: 'y' })).toBe(false);
});
