# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# C structs and enums without their typedefs, which Sphinx would take for second declarations.
/^typedef (struct|enum) mercer_[a-z_0-9]+ \{/ { sub(/^typedef /, "") }
/^} mercer_[a-z_0-9]+;/ { $0 = "};" }
