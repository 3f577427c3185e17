// As engine/pch/common.h, for the tests.
#ifndef WARPATH_TESTS_PCH_COMMON_H
#define WARPATH_TESTS_PCH_COMMON_H

#include "engine/pch/common.h"

#include <doctest/doctest.h>

#endif
