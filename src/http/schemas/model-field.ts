// The `model` field that every inference request has; checked before every other field.

import { z } from 'zod';

export const modelField = z.string("The field 'model' must be a string.");
