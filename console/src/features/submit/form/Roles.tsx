import { DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import type { ReactNode } from 'react';
import { useWords } from '@/i18n/language';
import { type Path, pathText, valueAt } from '../document';
import { OF_A_TYPE, ROLE_LAYOUT, unplacedOfRole } from '../layout';
import { hasRoles, isDistributed, nTasks, rolePaths, withOneMoreRole, withRoleList } from '../roles';
import { fieldAt } from '../schema';
import { words } from '../words';
import { GpuTypeControl, ImageControl, StrategyControl, TypeControl, useIsOffered } from './choices';
import { type Bound, isWorthShowing, useForm } from './context';
import { FieldRow } from './FieldRow';
import { Fold } from './Fold';
import styles from './form.module.css';
import { isRare, Rare } from './Rare';

const SPECIAL: Record<string, (bound: Bound) => ReactNode> = {
  gpu_type: (bound) => <GpuTypeControl bound={bound} />,
  image: (bound) => <ImageControl bound={bound} />,
  type: (bound) => <TypeControl bound={bound} />,
};

/** What the tasks hold: of the one task, or of each role. */
export function Roles() {
  const say = useWords(words);
  const { doc, replace, isDisabled } = useForm();
  if (!isDistributed(doc)) {
    return (
      <div className={styles.roles} id="field-roles" tabIndex={-1}>
        <RoleFields path={[]} />
        <RolesFault />
      </div>
    );
  }
  return (
    <>
      <FieldRow path={['strategy']} control={(bound) => <StrategyControl bound={bound} />} isWide />
      <div className={styles.roles} id="field-roles" tabIndex={-1}>
        {rolePaths(doc).map((path, index) => (
          <RoleCard key={pathText(path)} path={path} number={index + 1} />
        ))}
        <div className={styles.rolesEnd}>
          <Button
            disabled={isDisabled}
            icon={<PlusOutlined aria-hidden />}
            onClick={() => replace(hasRoles(doc) ? withOneMoreRole(doc) : withOneMoreRole(withRoleList(doc)))}
          >
            {say.addRole}
          </Button>
          <span className="quiet">{say.totals(nTasks(doc))}</span>
        </div>
        <RolesFault />
      </div>
    </>
  );
}

/** What is wrong with the roles as a whole. */
function RolesFault() {
  const { problems } = useForm();
  const problem = problems.get('roles');
  if (!problem) return null;
  return (
    <div className={styles.fault} role="alert">
      {problem.message}
    </div>
  );
}

function RoleCard({ path, number }: { path: Path; number: number }) {
  const say = useWords(words);
  const { doc, change, isDisabled } = useForm();
  // In the short form the only name is the job's own.
  const given = path.length > 0 ? valueAt(doc, [...path, 'name']) : undefined;
  const name = typeof given === 'string' && given ? given : say.roleTitle(number);
  const isRemovable = hasRoles(doc) && doc.roles.length > 1;
  const count = valueAt(doc, [...path, 'count']);
  const card = (
    <section className={styles.role} aria-label={say.roleTitle(number)}>
      <div className={styles.roleHead}>
        <h3>{name}</h3>
        {isRemovable && (
          <Button
            type="text"
            size="small"
            disabled={isDisabled}
            icon={<DeleteOutlined aria-hidden />}
            aria-label={say.removeRole(name)}
            onClick={() => change(path, undefined)}
          />
        )}
      </div>
      <RoleFields path={path} isInGang />
    </section>
  );
  return (
    <Fold title={name} detail={`× ${count ?? 1}`} path={path}>
      {card}
    </Fold>
  );
}

function RoleFields({ path, isInGang = false }: { path: Path; isInGang?: boolean }) {
  const form = useForm();
  const isOffered = useIsOffered();
  const field = fieldAt(form.root, ['roles', 0]);
  const rest = field?.kind === 'record' && path.length > 0 ? unplacedOfRole(field) : [];
  const more = [...ROLE_LAYOUT.more, ...rest].filter((name) => {
    // At the top of a document, image and variables are the job's own and stand in sections of their own.
    const isJobs = path.length === 0 && (name === 'image' || name === 'env');
    return !isJobs && isWorthShowing(form, [...path, name]);
  });
  const first = isInGang ? (path.length > 0 ? ['name', 'count'] : ['count']) : [];
  const rare = form.isProfessional ? more.filter((name) => isRare(form, [...path, name])) : [];
  const hasType = Boolean(valueAt(form.doc, [...path, 'type']));
  const basic = ROLE_LAYOUT.basic.filter((name) => {
    // What the type says is not asked for, unless somebody wrote it all the same.
    const isSaid = hasType && OF_A_TYPE.has(name) && valueAt(form.doc, [...path, name]) === undefined;
    return !isSaid && isOffered([...path, name]);
  });
  const shown = [...first, ...basic, ...more.filter((name) => !rare.includes(name))];
  const row = (name: string) => <FieldRow key={name} path={[...path, name]} control={SPECIAL[name]} />;
  return (
    <div className={styles.roleFields}>
      {shown.map(row)}
      <Rare name="role" paths={rare.map((name) => [...path, name])}>
        {rare.map(row)}
      </Rare>
    </div>
  );
}
