# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Headers as Doxygen is to read them: the introduction, from the sixth line on, is the file's; conventions are a list; functions
# that share a comment have it each.
NR == 6 { sub(/^\/\* /, "/** @file\n * ") }
{ sub(/^ \* *[0-9]+\. /, " * -# ") }
/^\/\*\*/ { comment = ""; inside = 1 }
inside { comment = comment $0 "\n" }
/\*\/$/ { inside = 0 }
/^MERCER_API/ && last ~ /;$/ { printf "%s", comment }
{ print; last = $0 }
