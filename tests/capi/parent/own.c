/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * A library of the parent's own. */
int own(void);
int own(void) { return 0; }
