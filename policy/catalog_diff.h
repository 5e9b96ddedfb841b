/* catalog_diff.h - what another catalog would change, name by name (chapter 4.2, `PUT /v1/catalog?dryRun=true`). Pure, any thread. */
#ifndef ADMITD_POLICY_CATALOG_DIFF_H
#define ADMITD_POLICY_CATALOG_DIFF_H

#include "policy/catalog.h"
#include "policy/json_out.h"

/* Writes one object, everything byte-wise by name:
 *  mcps          {added, removed, changed}: ids; changed has those whose delivery, health gate, root resource or words differ
 *  capabilities  {added [{capability, class}], removed [{…}], reclassified [{capability, before, after}]}
 *  aliases       {added [{alias, capability}], removed [{…}]}; one that points elsewhere is both
 */
void catalog_diff_write(const struct catalog *before, const struct catalog *after, struct json_out *out);

#endif
