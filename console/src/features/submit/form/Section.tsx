import { Button, Segmented, Select, Skeleton, Tooltip } from 'antd';
import { lazy, type ReactNode, Suspense } from 'react';
import { useWords } from '@/i18n/language';
import { pathText, valueAt } from '../document';
import { JOB_LAYOUT, type SectionName, sectionOfText, unplaced } from '../layout';
import { withOwnTemplate } from '../ownTemplates';
import { isDistributed, rolePaths } from '../roles';
import { withTemplate } from '../templates';
import { useTemplates } from '../useTemplates';
import { words } from '../words';
import { AreaControl } from './Control';
import {
  FrameworkControl,
  ImageControl,
  LoginControl,
  QueueControl,
  SecretsControl,
  useIsOffered,
} from './choices';
import { type Bound, isWorthShowing, useForm } from './context';
import { FieldRow } from './FieldRow';
import { Fold } from './Fold';
import { FreeNow } from './FreeNow';
import styles from './form.module.css';
import { isRare, Rare } from './Rare';
import { Roles } from './Roles';

const CodeField = lazy(async () => ({ default: (await import('../code/CodeField')).CodeField }));

/** Controls for fields that the platform knows the possible values of. */
const SPECIAL: Record<string, (bound: Bound) => ReactNode> = {
  description: (bound) => <AreaControl bound={bound} />,
  queue: (bound) => <QueueControl bound={bound} />,
  framework: (bound) => <FrameworkControl bound={bound} />,
  image: (bound) => <ImageControl bound={bound} />,
  image_credentials: (bound) => <LoginControl bound={bound} />,
  secrets: (bound) => <SecretsControl bound={bound} />,
  code: (bound) => (
    <Suspense fallback={<Skeleton.Input active block />}>
      <CodeField bound={bound} />
    </Suspense>
  ),
};
const WIDE = new Set(['description', 'image', 'code', 'alerts']);

/** One section of the form. */
export function Section({ name }: { name: SectionName }) {
  const form = useForm();
  const isOffered = useIsOffered();
  const { basic, more } = JOB_LAYOUT[name];
  const rest = name === 'execution' ? unplaced(form.root) : [];
  const all = [
    ...basic.filter((field) => isOffered([field])),
    ...[...more, ...rest].filter((field) => isWorthShowing(form, [field])),
  ];
  const rare = form.isProfessional ? all.filter((field) => isRare(form, [field])) : [];
  const shown = all.filter((field) => !rare.includes(field));
  const row = (field: string) => (
    <FieldRow key={field} path={[field]} control={SPECIAL[field]} isWide={WIDE.has(field)} />
  );
  return (
    <div className={styles.grid}>
      {name === 'basics' && <Beginning />}
      {name === 'resources' && (
        <>
          <FreeNow />
          <Roles />
        </>
      )}
      {name === 'execution' && <Commands />}
      {shown.map(row)}
      <Rare name={name} paths={rare.map((field) => [field])}>
        {rare.map(row)}
      </Rare>
      <Strangers section={name} />
    </div>
  );
}

/** Tells the templates of the reader from ours of the same name. */
const OWN = 'own ';

/** Kind and template of the job. */
function Beginning() {
  const say = useWords(words);
  const { doc, replace, turn, isDisabled } = useForm();
  const { own, names, machine, wordsOf, tell } = useTemplates();
  const ours = names.map((name) => ({ value: name, label: wordsOf(name), title: wordsOf(name) }));
  const theirs = own.map(({ name }) => ({ value: `${OWN}${name}`, label: name, title: name }));
  const fill = (value: string) => {
    const template = own.find(({ name }) => value === `${OWN}${name}`);
    tell(template?.name ?? value);
    replace(template ? withOwnTemplate(doc, template) : withTemplate(doc, value, machine));
  };
  return (
    <>
      <div className={styles.row}>
        <div className={styles.label} id="kind-label">
          <Tooltip title={say.kindHint}>
            <span>{say.kind}</span>
          </Tooltip>
        </div>
        <Segmented
          aria-labelledby="kind-label"
          disabled={isDisabled}
          value={isDistributed(doc) ? 'distributed' : 'single'}
          options={[
            { value: 'single', label: say.single },
            { value: 'distributed', label: say.distributed },
          ]}
          onChange={(kind) => turn(kind === 'distributed')}
        />
      </div>
      <div className={styles.row}>
        <div className={styles.label}>
          <Tooltip title={say.templateHint}>
            <label htmlFor="template">{say.template}</label>
          </Tooltip>
        </div>
        <Select
          id="template"
          disabled={isDisabled}
          placeholder={say.chooseTemplate}
          value={null}
          popupMatchSelectWidth={420}
          options={theirs.length > 0 ? [{ label: say.ownTemplates, options: theirs }, ...ours] : ours}
          onChange={(value: string | null) => value !== null && fill(value)}
        />
      </div>
    </>
  );
}

/** The command of every role. */
function Commands() {
  const say = useWords(words);
  const { doc, isDisabled } = useForm();
  const control = (bound: Bound) => (
    <>
      <AreaControl bound={bound} rows={3} isCode placeholder="python train.py" />
      {!bound.value && (
        <div>
          <Button type="link" size="small" disabled={isDisabled} onClick={() => bound.set('sleep infinity')}>
            {say.sleepOn}
          </Button>
        </div>
      )}
    </>
  );
  return rolePaths(doc).map((path) => {
    const name = valueAt(doc, [...path, 'name']);
    const label = path.length === 0 ? undefined : say.commandOf(typeof name === 'string' ? name : 'main');
    const row = <FieldRow path={[...path, 'command']} control={control} label={label} isWide />;
    return (
      <Fold key={pathText(path)} title={label ?? ''} path={[...path, 'command']}>
        {row}
      </Fold>
    );
  });
}

/** Problems with fields that the form has no place for, such as names that are mistyped. */
function Strangers({ section }: { section: SectionName }) {
  const { problems, root } = useForm();
  if (root.kind !== 'record') return null;
  const strange = [...problems.values()].filter(({ path }) => {
    const [first = ''] = path.split(/[.[]/);
    return sectionOfText(path) === section && !(first in root.fields);
  });
  return strange.map(({ path, message }) => (
    <div key={path} className={styles.row} data-wide="true">
      <div className={styles.label}>
        <code>{path}</code>
      </div>
      <div className={styles.fault} role="alert">
        {message}
      </div>
    </div>
  ));
}
