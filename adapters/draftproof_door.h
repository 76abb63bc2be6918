/* The header of version 0.2, which maps its names to draftproof_adapter.h. It will be removed in 0.4. */
#ifndef DRAFTPROOF_DOOR_H
#define DRAFTPROOF_DOOR_H

#include "draftproof_adapter.h"

#define DRAFTPROOF_DOOR_ABI DRAFTPROOF_ADAPTER_ABI
#define DRAFTPROOF_DOOR_EXPORT DRAFTPROOF_ADAPTER_EXPORT
#define draftproof_door draftproof_adapter
#define law draft_sampling /* member of dp_verifier */

#endif
