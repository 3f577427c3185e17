// As engine/pch/common.h, for the tests.
#pragma once

#include "engine/pch/common.h"

#include <doctest/doctest.h>
