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
      const known = new Set(Object.keys(form.getFieldsValue(true)));
      const found = error.problems.flatMap(({ path, message }) => {
        const [name = ''] = path.split(/[.[]/);
        return known.has(name) ? [{ name: name as never, errors: [told(message)] }] : [];
      });
      form.setFields(found);
      return found.length > 0;
    },
    [told],
  );
}
