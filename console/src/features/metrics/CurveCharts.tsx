import type { Drawing } from './Controls';
import { CurveChart } from './CurveChart';
import { type Curve, charted } from './curves';
import styles from './metrics.module.css';

interface CurveChartsProps {
  curves: readonly Curve[];
  /** What a curve is called beside others of its chart. */
  whose: (curve: Curve) => string;
  drawing: Drawing;
  onDrawing: (change: Partial<Drawing>) => void;
}

/** A chart for each metric, all drawn alike. */
export function CurveCharts({ curves, whose, drawing, onDrawing }: CurveChartsProps) {
  return (
    <div className={styles.charts}>
      {charted(curves, whose).map(({ title, lines }) => (
        <CurveChart
          key={title}
          title={title}
          lines={lines}
          axis={drawing.axis}
          smoothing={drawing.smoothing}
          isLog={drawing.isLog}
          onZoom={(range) => onDrawing({ range })}
        />
      ))}
    </div>
  );
}
