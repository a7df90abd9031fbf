import { expect, it } from 'vitest';
import { inMyZone } from './zones';

const local = (text: string) => new Date(text).toISOString();

it('adds the zone of the reader to times without one', () => {
  expect(inMyZone({ name: 'a', deadline: '2030-01-31T18:00' })).toEqual({
    name: 'a',
    deadline: local('2030-01-31T18:00'),
  });
  expect(inMyZone({ deadline: '2030-01-31 18:00:00' })).toEqual({ deadline: local('2030-01-31T18:00:00') });
  expect(inMyZone({ deadline: '2030-01-31' })).toEqual({ deadline: local('2030-01-31T00:00') });
  expect(inMyZone({ alerts: [{ on: 'deadline', at: '2030-01-31T18:00' }, 'odd'] })).toEqual({
    alerts: [{ on: 'deadline', at: local('2030-01-31T18:00') }, 'odd'],
  });
});

it('leaves alone what has a zone, and what is no time', () => {
  for (const deadline of [
    '2030-01-31T18:00:00Z',
    '2030-01-31T18:00+08:00',
    'soon',
    '2030-13-31T18:00',
    5,
    null,
  ]) {
    expect(inMyZone({ deadline })).toEqual({ deadline });
  }
  expect(inMyZone({ name: 'a' })).toEqual({ name: 'a' });
});
