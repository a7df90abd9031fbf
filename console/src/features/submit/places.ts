import type { Language } from '@/i18n/translated';
import { isMapping, type Json, type Mapping, type Path } from './document';
import { FIELD_WORDS, labelOf, wordKey } from './fieldWords';

const WORDS = {
  en: {
    ofRole: (label: string, role: string) => `${label} of role ${role}`,
    role: (name: string) => `Role ${name}`,
    nth: (label: string, n: number) => `${label} ${n}`,
    within: (outer: string, inner: string) => `${outer}: ${inner}`,
  },
  zh: {
    ofRole: (label: string, role: string) => `角色 ${role} 的${label}`,
    role: (name: string) => `角色 ${name}`,
    nth: (label: string, n: number) => `${label}第 ${n} 项`,
    within: (outer: string, inner: string) => `${outer}：${inner}`,
  },
};

/** Where a field is, in people's words; the role by its name, others of a list by their number. */
export function placeOf(path: Path, doc: Mapping, language: Language): string {
  const say = WORDS[language];
  const [first, index, ...rest] = path;
  if (first !== 'roles' || typeof index !== 'number') return nameOf(path, language);
  const name = roleName(doc.roles, index);
  return rest.length === 0 ? say.role(name) : say.ofRole(nameOf(rest, language, ['roles', index]), name);
}

function nameOf(path: Path, language: Language, before: Path = []): string {
  const say = WORDS[language];
  let text = '';
  path.forEach((part, i) => {
    const here = [...before, ...path.slice(0, i + 1)];
    if (typeof part === 'number') text = say.nth(text, part + 1);
    else {
      const label = wordKey(here) in FIELD_WORDS ? labelOf(here, language) : part;
      text = text ? say.within(text, label) : label;
    }
  });
  return text;
}

function roleName(roles: Json | undefined, index: number): string {
  const role = Array.isArray(roles) ? roles[index] : undefined;
  return isMapping(role) && typeof role.name === 'string' && role.name ? role.name : String(index + 1);
}
