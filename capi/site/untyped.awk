# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Headers as Sphinx is to read them: structs and enums without their typedefs, which it would take for second declarations, and no >
# inside the brackets of a template.
/^typedef (struct|enum) mercer_[a-z_0-9]+ \{/ { sub(/^typedef /, "") }
/^} mercer_[a-z_0-9]+;/ { $0 = "};" }
{ sub(/detail::number<T>\(\) >= 0/, "(&)") }
