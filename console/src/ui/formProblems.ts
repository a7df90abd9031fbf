import type { FormInstance } from 'antd';
import { useCallback } from 'react';
import { ApiError } from '@/api/client';
import { useTold } from './told';

/** A way to put what the server has against an input at its fields; false when it says nothing of fields here. */
export function useProblems() {
  const told = useTold();
  return useCallback(
    <Fields extends object>(form: FormInstance<Fields>, error: unknown): boolean => {
      if (!(error instanceof ApiError)) return false;
      if (error.code === 'conflict' && 'name' in form.getFieldsValue(true)) {
        // What there may be once only goes by its name.
        form.setFields([{ name: 'name' as never, errors: [sentence(told(error.said))] }]);
        return true;
      }
      const known = new Set(Object.keys(form.getFieldsValue(true)));
      const found = error.problems.flatMap((problem) => {
        const [name = ''] = problem.path.split(/[.[]/);
        return known.has(name) ? [{ name: name as never, errors: [sentence(told(problem))] }] : [];
      });
      form.setFields(found);
      return found.length > 0;
    },
    [told],
  );
}

/** What the server says of a field begins with a verb: below the field it is a sentence of its own. */
export function sentence(told: string): string {
  if (/^(is|must|may|has|contains|cannot|does) /.test(told)) return `This ${told}`;
  // A field stays written as it is in the file.
  if (/^[A-Za-z][\w.*[\]-]*: /.test(told)) return told;
  return told.charAt(0).toUpperCase() + told.slice(1);
}
