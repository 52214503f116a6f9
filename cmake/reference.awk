# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Headers as Doxygen is to read them: the introduction, from the sixth line on, is the file's; conventions are a list; functions
# that share a comment have it each; the inline namespace is not shown. The main page lists what mercer.h includes.
NR == 6 { sub(/^\/\* /, "/** @file\n * ") }
NR == 1 && FILENAME ~ /mercer\.h$/ { main = 1 }
main && /^#include "/ { split($0, part, /["\/]/); headers = headers " * - @ref " part[3] "\n" }
/^inline namespace hpp/ || /^}  \/\/ namespace hpp/ { $0 = "" }
{ sub(/^ \* *[0-9]+\. /, " * -# ") }
/^\/\*\*/ { comment = ""; inside = 1 }
inside { comment = comment $0 "\n" }
/\*\/$/ { inside = 0 }
/^MERCER_API/ && last ~ /;$/ { printf "%s", comment }
{ print; last = $0 }
END {
  if (main)
    print "/** @mainpage\n * Features of kernels whose inner products are the kernel's values, and what is learnt on them. Conventions are in @ref base.h;" \
          " programs to begin with in RECIPES.md, formulas in GUIDE.md, both in share/doc/mercer.\n *\n * C++17: @ref mercer.hpp. C99: @ref mercer.h, which is\n" \
          headers " */"
}
