import { Input, Select, Switch } from 'antd';
import { type KeyboardEvent, useState } from 'react';
import { useLanguage, useWords } from '@/i18n/language';
import { exactly } from '@/ui/time';
import { isSame, type Json } from '../document';
import { choiceLabel } from '../fieldWords';
import { SIZE_UNITS, sizeText, splitSize } from '../measures';
import { readRequirements, requirementsText } from '../requirements';
import { words } from '../words';
import { StorageControl } from './choices';
import { type Bound, useForm } from './context';
import styles from './form.module.css';
import { MappingControl } from './MappingControl';
import { RecordControl, RecordListControl } from './RecordControl';

interface ControlProps {
  bound: Bound;
  placeholder?: string;
}

/** The control that fits what a field holds. */
export function Control({ bound, placeholder }: ControlProps) {
  switch (bound.field.kind) {
    case 'integer':
    case 'number':
      return <NumberControl bound={bound} placeholder={placeholder} />;
    case 'size':
      return <SizeControl bound={bound} />;
    case 'duration':
      return <DurationControl bound={bound} placeholder={placeholder} />;
    case 'instant':
      return <InstantControl bound={bound} />;
    case 'flag':
      return bound.field.isNullable ? <OpenFlagControl bound={bound} /> : <FlagControl bound={bound} />;
    case 'choice':
      return <ChoiceControl bound={bound} />;
    case 'list':
      return bound.field.item.kind === 'record' ? (
        <RecordListControl bound={bound} />
      ) : (
        <TagsControl bound={bound} />
      );
    case 'record':
      return <RecordControl bound={bound} />;
    case 'mapping':
      return bound.field.values.kind === 'any' ? (
        <JsonControl bound={bound} />
      ) : (
        <MappingControl bound={bound} />
      );
    case 'any':
      return bound.path.at(-1) === 'requirements' ? (
        <RequirementsControl bound={bound} />
      ) : (
        <JsonControl bound={bound} />
      );
    default:
      return bound.path.at(-1) === 'storage' ? (
        <StorageControl bound={bound} />
      ) : (
        <TextControl bound={bound} placeholder={placeholder} />
      );
  }
}

/** What tells assistive programs about a field that is wrong. */
export function useMarks({ id, problem, isRequired, touch }: Bound) {
  const { isDisabled } = useForm();
  return {
    id,
    disabled: isDisabled,
    status: problem ? ('error' as const) : undefined,
    'aria-invalid': problem ? true : undefined,
    'aria-describedby': problem ? `${id}-fault ${id}-help` : `${id}-help`,
    'aria-required': isRequired || undefined,
    onBlur: touch,
  };
}

const shown = (value: Json | undefined) =>
  value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

export function TextControl({ bound, placeholder }: ControlProps) {
  const marks = useMarks(bound);
  return (
    <Input
      {...marks}
      placeholder={placeholder}
      value={shown(bound.value)}
      onChange={(event) => bound.set(event.target.value === '' ? undefined : event.target.value)}
    />
  );
}

/** Where nothing is typed it says what holds then; where nothing holds, how one is written. */
function DurationControl({ bound, placeholder }: ControlProps) {
  const say = useWords(words);
  const { preset } = bound.field;
  const held = typeof preset === 'string' ? preset : say.forExample('1h30m');
  return <TextControl bound={bound} placeholder={placeholder ?? held} />;
}

interface AreaProps extends ControlProps {
  rows?: number;
  isCode?: boolean;
}

export function AreaControl({ bound, placeholder, rows = 2, isCode = false }: AreaProps) {
  const marks = useMarks(bound);
  return (
    <Input.TextArea
      {...marks}
      className={isCode ? styles.code : undefined}
      spellCheck={!isCode}
      placeholder={placeholder}
      autoSize={{ minRows: rows, maxRows: 14 }}
      value={shown(bound.value)}
      onChange={(event) => bound.set(event.target.value === '' ? undefined : event.target.value)}
    />
  );
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)$/;

const numberOf = (text: string): Json | undefined =>
  text.trim() === '' ? undefined : NUMBER.test(text.trim()) ? Number(text) : text;

/** Numbers are never cut to their bounds: what is typed stays, and is marked when it is outside. */
function NumberControl({ bound, placeholder }: ControlProps) {
  const marks = useMarks(bound);
  const [text, setText] = useState(shown(bound.value));
  const current = numberOf(text) === (bound.value ?? undefined) ? text : shown(bound.value);
  const set = (next: string) => {
    setText(next);
    bound.set(numberOf(next));
  };
  const step = (event: KeyboardEvent) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by === undefined || !('least' in bound.field)) return;
    event.preventDefault();
    const from = typeof bound.value === 'number' ? bound.value : Number(bound.field.preset ?? 0);
    set(String(Math.min(Math.max(from + by, bound.field.least), bound.field.most)));
  };
  const preset = typeof bound.field.preset === 'number' ? String(bound.field.preset) : undefined;
  return (
    <Input
      {...marks}
      inputMode="decimal"
      autoComplete="off"
      placeholder={placeholder ?? preset}
      value={current}
      onChange={(event) => set(event.target.value)}
      onKeyDown={step}
    />
  );
}

/** What holds when nothing is typed; its unit only where the box beside it has another. */
function placeholderOf(preset: ReturnType<typeof splitSize>, unit: string): string | undefined {
  if (!preset) return undefined;
  return preset.unit === unit ? preset.amount : `${preset.amount} ${preset.unit}`;
}

/** A size in two boxes: how much, and of which unit. A unit that is typed with the number is taken over. */
function SizeControl({ bound }: ControlProps) {
  const say = useWords(words);
  const marks = useMarks(bound);
  const preset = splitSize(bound.field.preset);
  const [lastUnit, setLastUnit] = useState(preset?.unit ?? 'GB');
  const [typed, setTyped] = useState<string | null>(null);
  const split = splitSize(bound.value);
  const unit = split?.unit ?? lastUnit;
  // What somebody types stays as it is until they leave the field, unless the document changed meanwhile.
  const isTyped = typed !== null && sizeText(typed, unit) === (bound.value ?? undefined);
  const amount = isTyped ? typed : (split?.amount ?? shown(bound.value));
  const set = (next: string, inUnit: string) => {
    const size = sizeText(next, inUnit);
    setLastUnit(splitSize(size)?.unit ?? inUnit);
    bound.set(size);
  };
  return (
    <div className={styles.size}>
      <Input
        {...marks}
        inputMode="decimal"
        autoComplete="off"
        placeholder={placeholderOf(preset, unit)}
        value={amount}
        onChange={(event) => {
          setTyped(event.target.value);
          set(event.target.value, unit);
        }}
        onBlur={() => {
          setTyped(null);
          marks.onBlur();
        }}
      />
      <Select
        aria-label={say.unitOf(bound.label)}
        disabled={marks.disabled}
        value={unit}
        options={[...new Set([...SIZE_UNITS, unit])].map((value) => ({ value, label: value }))}
        onChange={(next: string) => set(split?.amount ?? amount, next)}
      />
    </div>
  );
}

/** Browsers show moments in the reader's own time; the document has them in UTC. */
function InstantControl({ bound }: ControlProps) {
  const marks = useMarks(bound);
  const at = typeof bound.value === 'string' ? Date.parse(bound.value) : Number.NaN;
  const local = Number.isNaN(at)
    ? ''
    : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString();
  return (
    <div>
      <Input
        {...marks}
        type="datetime-local"
        value={local.slice(0, 16)}
        onChange={(event) => {
          const picked = Date.parse(event.target.value);
          bound.set(Number.isNaN(picked) ? undefined : new Date(picked).toISOString());
        }}
      />
      {/* The browser writes the field in its own language, which may be another. */}
      {local && <div className="quiet">{exactly(String(bound.value))}</div>}
    </div>
  );
}

/** Yes or no, or neither: then something else decides, which the help names. */
function OpenFlagControl({ bound }: ControlProps) {
  const say = useWords(words);
  const marks = useMarks(bound);
  return (
    <Select
      {...marks}
      allowClear
      placeholder={say.byDefault}
      value={typeof bound.value === 'boolean' ? bound.value : undefined}
      options={[
        { value: true, label: say.yes },
        { value: false, label: say.no },
      ]}
      onChange={(value: boolean | undefined) => bound.set(value)}
    />
  );
}

function FlagControl({ bound }: ControlProps) {
  const { id, disabled } = useMarks(bound);
  const value = typeof bound.value === 'boolean' ? bound.value : bound.field.preset === true;
  return <Switch id={id} disabled={disabled} checked={value} onChange={(checked) => bound.set(checked)} />;
}

function ChoiceControl({ bound }: ControlProps) {
  const marks = useMarks(bound);
  const { language } = useLanguage();
  if (bound.field.kind !== 'choice') return null;
  const preset =
    typeof bound.field.preset === 'string' ? choiceLabel(bound.field.preset, language) : undefined;
  return (
    <Select
      {...marks}
      allowClear={!bound.isRequired}
      placeholder={preset}
      value={typeof bound.value === 'string' ? bound.value : undefined}
      options={bound.field.options.map((value) => ({ value, label: choiceLabel(value, language) }))}
      onChange={(value: string | undefined) => bound.set(value)}
    />
  );
}

/** A list of plain values: words, numbers, or some of a few options. */
function TagsControl({ bound }: ControlProps) {
  const marks = useMarks(bound);
  const { language } = useLanguage();
  if (bound.field.kind !== 'list') return null;
  const { item } = bound.field;
  const value = Array.isArray(bound.value) ? bound.value.map(shown) : [];
  const read = (text: string): Json => (item.kind === 'integer' ? (numberOf(text) ?? text) : text);
  const options = item.kind === 'choice' ? item.options : [];
  return (
    <Select
      {...marks}
      mode={item.kind === 'choice' ? 'multiple' : 'tags'}
      open={item.kind === 'choice' ? undefined : false}
      suffixIcon={item.kind === 'choice' ? undefined : null}
      tokenSeparators={[',', ' ', ';']}
      value={value}
      options={options.map((option) => ({ value: option, label: choiceLabel(option, language) }))}
      onChange={(texts: string[]) => bound.set(texts.length === 0 ? undefined : texts.map(read))}
    />
  );
}

/** One requirement a line, or the name of the file that lists them. */
function RequirementsControl({ bound }: ControlProps) {
  const marks = useMarks(bound);
  const [text, setText] = useState(requirementsText(bound.value));
  // What is typed stays as it is, blank lines included, until the document says something else.
  const current = isSame(readRequirements(text), bound.value) ? text : requirementsText(bound.value);
  return (
    <Input.TextArea
      {...marks}
      className={styles.code}
      spellCheck={false}
      placeholder="numpy>=2"
      autoSize={{ minRows: 2, maxRows: 14 }}
      value={current}
      onChange={({ target }) => {
        setText(target.value);
        bound.set(readRequirements(target.value));
      }}
    />
  );
}

/** Anything at all, written as JSON; it goes into the document once it can be read. */
function JsonControl({ bound }: ControlProps) {
  const say = useWords(words);
  const marks = useMarks(bound);
  const written = bound.value === undefined ? '' : JSON.stringify(bound.value, null, 2);
  const [typed, setTyped] = useState<string | null>(null);
  const isBroken = typed !== null;
  return (
    <>
      <Input.TextArea
        {...marks}
        className={styles.code}
        aria-labelledby={`${bound.id}-label`}
        spellCheck={false}
        status={isBroken ? 'error' : marks.status}
        placeholder='{"key": "value"}'
        autoSize={{ minRows: 2, maxRows: 14 }}
        value={typed ?? written}
        onChange={({ target }) => {
          try {
            bound.set(target.value.trim() === '' ? undefined : JSON.parse(target.value));
            setTyped(null);
          } catch {
            setTyped(target.value);
          }
        }}
      />
      {isBroken && (
        <div className={styles.fault} role="alert">
          {say.notJson}
        </div>
      )}
    </>
  );
}
