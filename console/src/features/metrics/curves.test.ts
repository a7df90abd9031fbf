import { describe, expect, it } from 'vitest';
import { aligned, type Curve, charted, measured, short, smoothed, whoseOf } from './curves';

const curve = (name: string, more: Partial<Curve> = {}): Curve => ({
  name,
  task: 'main-0',
  attempt: 0,
  axis: 'step',
  n_points: 2,
  is_thinned: false,
  last: null,
  lowest: 1,
  highest: 2,
  x: [0, 1],
  values: [1, 2],
  ...more,
});

describe('curves', () => {
  it('measure the same on whatever data', () => {
    expect(['val/loss', 'train_loss', 'loss', 'eval/acc/top1', 'lr'].map(measured)).toEqual([
      'loss',
      'loss',
      'loss',
      'acc/top1',
      'lr',
    ]);
  });

  it('that measure the same are in one chart', () => {
    const charts = charted([curve('train/loss'), curve('lr'), curve('val/loss')], () => '');
    expect(charts.map(({ title, lines }) => [title, lines.map(({ label }) => label)])).toEqual([
      ['loss', ['train/loss', 'val/loss']],
      ['lr', ['lr']],
    ]);
  });

  it('name task and attempt only where there are several', () => {
    const one = curve('loss');
    expect(whoseOf([one])(one)).toBe('');
    expect(whoseOf([one, curve('loss', { task: 'main-1' })])(one)).toBe('main-0');
    expect(whoseOf([one, curve('loss', { attempt: 1 })])(one)).toBe('#1');
  });

  it('are smoothed without a jump at their beginning or at a gap', () => {
    expect(smoothed([4, 4, null, 4], 0.9)).toEqual([4, 4, null, 4]);
    expect(smoothed([0, 10], 0.5)[1]).toBeCloseTo(20 / 3);
    expect(smoothed([1, 5], 0)).toEqual([1, 5]);
  });

  it('share the places of all', () => {
    const line = (x: number[], values: number[]) => ({ label: '', x, values, last: null });
    expect(aligned([line([0, 2], [1, 2]), line([1], [3])], 0)).toEqual([
      [0, 1, 2],
      [1, null, 2],
      [null, 3, null],
    ]);
  });

  it('have numbers of few digits', () => {
    expect([0, 0.123456, 1234567, 0.00001, -3].map(short)).toEqual([
      '0',
      '0.12346',
      '1.23e+6',
      '1.00e-5',
      '-3',
    ]);
  });
});
