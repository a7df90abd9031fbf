import { App, Button, Segmented, Skeleton, Tooltip } from 'antd';
import {
  type KeyboardEvent,
  lazy,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  Suspense,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { recall, remember } from '@/app/memory';
import { useLanguage, useWords } from '@/i18n/language';
import { titleOf } from '@/ui/Failure';
import { Card, Page } from '@/ui/Page';
import { useDetail, useTold } from '@/ui/told';
import { words as uiWords } from '@/ui/words';
import { check, type Problem } from './check';
import { UploadContext, type UploadState, useUpload, waitText } from './code/useUpload';
import { DryRun } from './DryRun';
import { type Mapping, parsePath, pathText } from './document';
import { type Draft, type DraftPlace, dropDraft, type TextTools, useDraft } from './draft';
import { FormContext, type FormState, idOf } from './form/context';
import { Section } from './form/Section';
import { guidedSteps, SECTIONS, type SectionName, sectionOfText } from './layout';
import { SaveTemplate } from './SaveTemplate';
import { Steps } from './Steps';
import type { Field } from './schema';
import styles from './submit.module.css';
import type { Format } from './text';
import { problemsIn, type Source, useDryRun, useNameCheck } from './useDryRun';
import { useStay } from './useStay';
import { useUndo } from './useUndo';
import { words } from './words';

const FilePane = lazy(async () => ({ default: (await import('./FilePane')).FilePane }));
const Confirm = lazy(async () => ({ default: (await import('./Confirm')).Confirm }));
const MODE_KEY = 'footplate.submit';
/** What the header hides of a page that is scrolled. */
const HEADER_PX = 56;

interface ComposerProps {
  place: DraftPlace;
  root: Field;
  order: readonly string[];
  first: Draft;
  tools: TextTools | undefined;
  /** What is worth knowing about where the draft comes from. */
  note?: ReactNode;
}

/** The form, its text and its dry run around one document. */
export function Composer({ place, root, order, first, tools, note }: ComposerProps) {
  const say = useWords(words);
  const ui = useWords(uiWords);
  const told = useTold();
  const detailOf = useDetail();
  const { language } = useLanguage();
  const { draft, change, replace, take, turn, restore, type, setFormat, forgetText } = useDraft(
    place,
    first,
    order,
    tools,
    root,
  );
  const upload = useUpload((digest) => change(['code', 'upload'], digest));
  const isUploading = upload.state.kind === 'busy';
  useStay(isUploading);
  const tellWithUndo = useUndo(restore);
  const { doc } = draft;
  const [isProfessional, setProfessional] = useState(() => recall(MODE_KEY) === 'professional');
  const steps = guidedSteps(doc);
  const [step, setStep] = useState(0);
  const [furthest, setFurthest] = useState(first.original ? SECTIONS.length : 0);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [isConfirming, setConfirming] = useState(false);

  const own = useMemo(() => check(doc, root, language), [doc, root, language]);
  const { problem: nameProblem, free } = useNameCheck(doc.name, place.user);
  const isComplete = own.length === 0 && draft.fault === null;
  const source = useMemo<Source>(
    () => ({ clone: place.clone, foreign: draft.foreign }),
    [place.clone, draft.foreign],
  );
  const { dryRun, refusal, isChecking } = useDryRun(doc, own, draft.fault === null, source);
  const codeProblem = useMemo(
    () => problemOf(upload.state, say, (error) => detailOf(error) || titleOf(error, ui)),
    [upload.state, say, ui, detailOf],
  );
  const all = useMemo(
    () => [
      ...own,
      ...[nameProblem, codeProblem].filter((problem) => problem !== undefined),
      ...problemsIn(refusal, doc, told).filter(({ path }) => own.every((known) => known.path !== path)),
    ],
    [own, nameProblem, codeProblem, refusal, doc, told],
  );
  const problems = useMemo(() => byPath(all), [all]);
  const bad = useMemo(() => new Set(all.map(({ path }) => sectionOfText(path))), [all]);

  const touch = useCallback((...paths: string[]) => setTouched((old) => new Set([...old, ...paths])), []);
  const goTo = (path: string) => {
    touch(path);
    const index = Math.max(0, steps.indexOf(sectionOfText(path)));
    setStep(index);
    setFurthest((old) => Math.max(old, index));
    requestAnimationFrame(() => document.getElementById(idOf(nearestField(path)))?.focus());
  };
  const goToStep = (wanted: number) => {
    const stop = steps.findIndex((name, index) => index < wanted && bad.has(name));
    const reached = stop < 0 ? wanted : stop;
    if (stop >= 0) touch(...pathsIn(all, steps[stop]));
    setStep(reached);
    setFurthest((old) => Math.max(old, reached));
  };
  const bring = (imported: Mapping, name: string, text: string, format: Format, foreign?: string) => {
    const found = check(imported, root, language);
    upload.stop();
    // With the text itself: comments stay, and fields where somebody put them.
    take(imported, text, format, foreign);
    touch(...found.map(({ path }) => path));
    setFurthest(SECTIONS.length);
    if (found.length === 0) tellWithUndo(say.imported(name), draft);
    else tellWithUndo(say.importedWithProblems(name, found.length), draft, 'warning');
  };
  const startOver = () => {
    upload.stop();
    tellWithUndo(say.cleared, draft);
    replace({});
    setTouched(new Set());
    setStep(0);
    setFurthest(0);
  };
  const { modal } = App.useApp();
  const askToStartOver = () =>
    modal.confirm({
      title: say.startOverAsk,
      okText: say.startOver,
      cancelText: say.cancel,
      onOk: startOver,
    });
  const chooseMode = (mode: string) => {
    remember(MODE_KEY, mode);
    setProfessional(mode === 'professional');
  };
  const form = useMemo<FormState>(
    () => ({
      doc: draft.doc,
      root,
      problems,
      isProfessional,
      isDisabled: draft.fault !== null,
      change,
      replace,
      turn,
      tellReplaced: (text) => tellWithUndo(text, draft),
      touched,
      touch,
    }),
    [root, problems, isProfessional, draft, change, replace, turn, tellWithUndo, touched, touch],
  );
  const canSubmit = isComplete && all.length === 0 && !refusal && !isUploading;
  return (
    <FormContext value={form}>
      <UploadContext value={upload}>
        <Page
          title={say.title}
          actions={
            <>
              <Tooltip title={say.modeHint}>
                <Segmented
                  aria-label={say.mode}
                  value={isProfessional ? 'professional' : 'guided'}
                  options={[
                    { value: 'guided', label: say.guided },
                    { value: 'professional', label: say.professional },
                  ]}
                  onChange={chooseMode}
                />
              </Tooltip>
              <div className={styles.tools}>
                <SaveTemplate user={place.user} doc={doc} />
                <Button disabled={Object.keys(doc).length === 0} onClick={askToStartOver}>
                  {say.startOver}
                </Button>
              </div>
            </>
          }
        >
          {note}
          <div className={styles.columns}>
            <div className={styles.form}>
              {isProfessional ? (
                <>
                  <Index bad={bad} />
                  {SECTIONS.map((name) => (
                    <div key={name} id={`section-${name}`} className={styles.section}>
                      <Card title={say.sections[name].title}>
                        <Section name={name} />
                      </Card>
                    </div>
                  ))}
                </>
              ) : (
                <Guide
                  steps={steps}
                  step={step}
                  furthest={furthest}
                  bad={bad}
                  onGo={goToStep}
                  onReview={canSubmit ? () => setConfirming(true) : undefined}
                />
              )}
            </div>
            <aside className={styles.side} aria-label={say.dryRun}>
              <Card title={say.dryRun}>
                <DryRun
                  problems={all}
                  dryRun={dryRun}
                  refusal={refusal}
                  isBroken={draft.fault !== null}
                  isChecking={isChecking}
                  freeName={free}
                  onGo={goTo}
                />
                <Button
                  type="primary"
                  block
                  className={styles.submit}
                  disabled={!canSubmit}
                  onClick={() => setConfirming(true)}
                >
                  {upload.state.kind === 'busy' ? waitText(upload.state.progress, say) : say.review}
                </Button>
              </Card>
              <Suspense fallback={<Skeleton active title={false} />}>
                <FilePane
                  draft={draft}
                  root={root}
                  onType={type}
                  onFormat={setFormat}
                  onForget={forgetText}
                  onImport={bring}
                />
              </Suspense>
            </aside>
          </div>
          {isConfirming && (
            <Suspense>
              <Confirm
                source={source}
                doc={doc}
                root={root}
                order={order}
                onClose={() => setConfirming(false)}
                onSubmitted={() => dropDraft(place)}
              />
            </Suspense>
          )}
        </Page>
      </UploadContext>
    </FormContext>
  );
}

interface GuideProps {
  steps: readonly SectionName[];
  step: number;
  furthest: number;
  bad: ReadonlySet<SectionName>;
  onGo: (step: number) => void;
  /** Absent while something is missing or wrong. */
  onReview: (() => void) | undefined;
}

/** One section at a time; the next is reached once this one is right. */
function Guide({ steps, step, furthest, bad, onGo, onReview }: GuideProps) {
  const say = useWords(words);
  const name = steps[step] ?? 'basics';
  const isLast = step === steps.length - 1;
  const { title, intro } = say.sections[name];
  const top = useTopInView(step);
  const goOn = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !isPlainField(event)) return;
    event.preventDefault();
    if (isLast) onReview?.();
    else onGo(step + 1);
  };
  return (
    <section ref={top} className={styles.guide} aria-label={title}>
      <Steps names={steps} current={step} furthest={furthest} bad={bad} onGo={onGo} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Enter in a field goes on, as in any form */}
      <div className={styles.guideBody} onKeyDown={goOn}>
        <h2>{title}</h2>
        <p className="quiet">{intro}</p>
        <Section key={name} name={name} />
      </div>
      <div className={styles.guideEnd}>
        <Button disabled={step === 0} onClick={() => onGo(step - 1)}>
          {say.back}
        </Button>
        {isLast ? (
          <Tooltip title={onReview ? undefined : say.notYet}>
            <Button type="primary" ghost disabled={!onReview} onClick={onReview}>
              {say.toReview}
            </Button>
          </Tooltip>
        ) : (
          <Button type="primary" ghost onClick={() => onGo(step + 1)}>
            {say.next}
          </Button>
        )}
      </div>
    </section>
  );
}

/** Another section begins at its top, wherever the end of the one before was. */
function useTopInView(step: number): RefObject<HTMLElement | null> {
  const top = useRef<HTMLElement>(null);
  const shown = useRef(step);
  useLayoutEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    const at = top.current?.getBoundingClientRect().top ?? 0;
    if (at < HEADER_PX) top.current?.scrollIntoView({ block: 'start' });
  }, [step]);
  return top;
}

/** A field that has no use for Enter itself; an input method may be at work in it. */
function isPlainField({ target, nativeEvent }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLInputElement) || nativeEvent.isComposing) return false;
  return target.getAttribute('role') !== 'combobox' && ['text', 'number', ''].includes(target.type);
}

/** The way to each section of the long form, always in sight. */
function Index({ bad }: { bad: ReadonlySet<SectionName> }) {
  const say = useWords(words);
  return (
    <nav className={styles.index} aria-label={say.sectionsIndex}>
      {SECTIONS.map((name) => (
        <a
          key={name}
          href={`#section-${name}`}
          data-bad={bad.has(name)}
          onClick={(event) => goTo(event, name)}
        >
          {say.sections[name].title}
          {bad.has(name) && <span className="visually-hidden">, {say.stepHasProblems}</span>}
        </a>
      ))}
    </nav>
  );
}

/** Without a change of the address, which is the router's. */
function goTo(event: MouseEvent, name: SectionName): void {
  event.preventDefault();
  const section = document.getElementById(`section-${name}`);
  section?.scrollIntoView({ block: 'start' });
  section?.querySelector<HTMLElement>('input:not([type=file]), textarea')?.focus({ preventScroll: true });
}

type Words = (typeof words)['en'];

/** Code that did not arrive: the job would run without it, so somebody must say that this is meant. */
function problemOf(upload: UploadState, say: Words, tell: (error: unknown) => string): Problem | undefined {
  if (upload.kind !== 'failed') return undefined;
  const why = tell(upload.error);
  return { path: 'code', message: say.codeFailed(why), isMissing: false };
}

function byPath(problems: readonly Problem[]): ReadonlyMap<string, Problem> {
  const found = new Map<string, Problem>();
  for (const problem of problems) if (!found.has(problem.path)) found.set(problem.path, problem);
  return found;
}

const pathsIn = (problems: readonly Problem[], section: SectionName | undefined) =>
  problems.filter(({ path }) => sectionOfText(path) === section).map(({ path }) => path);

/** The field to show for a path: an entry of a mapping has none of its own. */
function nearestField(path: string): string {
  let parts = parsePath(path);
  while (parts.length > 1 && !document.getElementById(idOf(parts))) parts = parts.slice(0, -1);
  return pathText(parts);
}
