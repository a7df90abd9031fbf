import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { words } from '../words';
import { pathsOf, rangeOf, short } from './curves';
import styles from './preview.module.css';

type Curve = Schemas['EventCurve'];

/** The scalars of a TensorBoard event file, each tag as a curve by step. */
export function CurvesPreview({ curves, isCut }: { curves: readonly Curve[]; isCut: boolean }) {
  const say = useWords(words);
  if (curves.length === 0) return <p className="quiet">{say.noCurves}</p>;
  return (
    <>
      <div className={styles.curves}>
        {curves.map((curve) => (
          <Plot key={curve.tag} curve={curve} />
        ))}
      </div>
      {isCut && <p className="quiet">{say.cutCurves}</p>}
    </>
  );
}

const WIDTH = 320;
const HEIGHT = 140;

function Plot({ curve }: { curve: Curve }) {
  const say = useWords(words);
  const [least, most] = rangeOf(curve.values);
  const last = curve.values.findLast((value) => value !== null) ?? Number.NaN;
  const told = say.curve(curve.tag, short(last), short(least), short(most));
  return (
    <figure className={styles.curve}>
      <figcaption>
        <strong>{curve.tag}</strong> <span className="number">{say.last(short(last))}</span>
      </figcaption>
      <div className={styles.plot}>
        <div className={styles.scale} aria-hidden>
          <span>{short(most)}</span>
          <span>{short(least)}</span>
        </div>
        <svg role="img" aria-label={told} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
          {pathsOf(curve, WIDTH, HEIGHT).map((path) => (
            <path key={path} d={path} vectorEffect="non-scaling-stroke" />
          ))}
        </svg>
      </div>
      <div className={styles.steps} aria-hidden>
        <span>{`${say.step} ${curve.steps[0] ?? 0}`}</span>
        <span>{curve.steps.at(-1) ?? 0}</span>
      </div>
    </figure>
  );
}
