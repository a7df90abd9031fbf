import { Button, Segmented, Slider, Switch } from 'antd';
import type { ReactNode } from 'react';
import { useState } from 'react';
import { useWords } from '@/i18n/language';
import type { Range } from './CurveChart';
import type { Axis } from './curves';
import styles from './metrics.module.css';
import { words } from './words';

export interface Drawing {
  axis: Axis;
  smoothing: number;
  isLog: boolean;
  range: Range;
}

export function useDrawing(): [Drawing, (change: Partial<Drawing>) => void] {
  const [drawing, setDrawing] = useState<Drawing>({ axis: 'step', smoothing: 0, isLog: false, range: null });
  return [drawing, (change) => setDrawing((now) => ({ ...now, ...change }))];
}

const AXES: readonly Axis[] = ['step', 'epoch', 'time'];
const MOST_SMOOTHING = 0.99;

interface ControlsProps {
  drawing: Drawing;
  onDrawing: (change: Partial<Drawing>) => void;
  children?: ReactNode;
}

/** How curves are drawn: over what, how smooth, on which scale, and which part. */
export function Controls({ drawing, onDrawing, children }: ControlsProps) {
  const say = useWords(words);
  return (
    <div className={styles.bar}>
      <Segmented
        aria-label={say.axis}
        value={drawing.axis}
        onChange={(axis) => onDrawing({ axis, range: null })}
        options={AXES.map((value) => ({ value, label: say.axes[value] }))}
      />
      <span className={styles.bar} style={{ margin: 0 }}>
        {say.smoothing}
        <Slider
          className={styles.slider}
          ariaLabelForHandle={say.smoothing}
          min={0}
          max={MOST_SMOOTHING}
          step={0.01}
          value={drawing.smoothing}
          onChange={(smoothing) => onDrawing({ smoothing })}
        />
      </span>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the switch is the control */}
      <label>
        <Switch
          size="small"
          checked={drawing.isLog}
          onChange={(isLog) => onDrawing({ isLog })}
          aria-label={say.log}
        />
        {say.log}
      </label>
      {children}
      {drawing.range ? (
        <Button onClick={() => onDrawing({ range: null })}>{say.unzoom}</Button>
      ) : (
        <span className="quiet">{say.zoomHint}</span>
      )}
    </div>
  );
}
