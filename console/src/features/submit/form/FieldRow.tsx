import { QuestionCircleOutlined } from '@ant-design/icons';
import { Link } from '@tanstack/react-router';
import { Tooltip } from 'antd';
import type { ReactNode } from 'react';
import { useWords } from '@/i18n/language';
import type { Path } from '../document';
import { words } from '../words';
import { Control } from './Control';
import { type Bound, useField } from './context';
import styles from './form.module.css';

interface FieldRowProps {
  path: Path;
  /** In place of the control that the schema suggests. */
  control?: (bound: Bound) => ReactNode;
  placeholder?: string;
  /** In place of the field's own. */
  label?: string;
  isWide?: boolean;
}

/** A field of the schema: label, help, control, and what is wrong with its value. */
export function FieldRow({ path, control, placeholder, label, isWide = false }: FieldRowProps) {
  const found = useField(path);
  if (!found) return null;
  const bound = label ? { ...found, label } : found;
  const isMeasure = MEASURES.has(bound.field.kind);
  const isGroup = ['record', 'mapping'].includes(bound.field.kind) || isListOfRecords(bound);
  // One without entries is a button: it needs no line of its own.
  const isFilled = bound.value !== undefined && bound.value !== null;
  return (
    <div className={styles.row} data-wide={isWide || (isGroup && isFilled)} data-bad={Boolean(bound.problem)}>
      <Label bound={bound} isGroup={isGroup} />
      {control ? control(bound) : <Control bound={bound} placeholder={placeholder} />}
      {isMeasure && bound.bounds && <div className={styles.bounds}>{bound.bounds}</div>}
      {!isGroup && (
        <div id={`${bound.id}-help`} className="visually-hidden">
          {bound.help}
        </div>
      )}
      <Fault bound={bound} />
      <Kept path={path} />
    </div>
  );
}

/** Where that lies which a field names. */
function Kept({ path: [name, ...inner] }: { path: Path }) {
  const say = useWords(words);
  if (inner.length > 0) return null;
  if (name === 'environment') return <NewTab to="/environments">{say.keptEnvironments}</NewTab>;
  return name === 'secrets' ? <NewTab to="/secrets">{say.keptSecrets}</NewTab> : null;
}

const NewTab = ({ to, children }: { to: '/environments' | '/secrets'; children: string }) => (
  <Link to={to} target="_blank" className={styles.kept}>
    {children}
  </Link>
);

/** Whose bounds stand below them; why they are so is behind the question mark. */
const MEASURES = new Set(['integer', 'number', 'size', 'duration']);

const isListOfRecords = ({ field }: Bound) => field.kind === 'list' && field.item.kind === 'record';

function Label({ bound, isGroup }: { bound: Bound; isGroup: boolean }) {
  const say = useWords(words);
  const { id, label, isRequired, help, bounds, preset, isStoredOnly } = bound;
  const details = [bounds, preset].filter(Boolean);
  const tip = (
    <>
      <div>{help}</div>
      {details.length > 0 && <div className={styles.tipBounds}>{details.join(' · ')}</div>}
      {isStoredOnly && <div className={styles.tipBounds}>{say.storedOnly}</div>}
    </>
  );
  return (
    <div className={styles.label}>
      <Tooltip title={tip} placement="topLeft">
        {isGroup ? (
          <span id={`${id}-label`}>{label}</span>
        ) : (
          <label htmlFor={id} id={`${id}-label`}>
            {label}
          </label>
        )}
      </Tooltip>
      {isRequired && (
        <span className={styles.star} aria-hidden="true">
          *
        </span>
      )}
      <Tooltip title={tip}>
        <button
          type="button"
          className={styles.help}
          // One stop for each field; with the field, screen readers read the same.
          tabIndex={-1}
          aria-label={say.helpFor(label, [help, ...details].join(' '))}
        >
          <QuestionCircleOutlined aria-hidden />
        </button>
      </Tooltip>
      {isStoredOnly && <span className={styles.stored}>{say.storedOnlyShort}</span>}
    </div>
  );
}

/** What is wrong, below the field; screen readers say it with the field. */
export function Fault({ bound }: { bound: Bound }) {
  if (!bound.problem) return null;
  return (
    <div className={styles.fault} id={`${bound.id}-fault`} role="alert">
      {bound.problem.message}
    </div>
  );
}
