import triton
import triton.language as tl


# The last program writes a row behind the tensor.
@triton.jit
def softmax(o, x, s, N, C, COLUMNS: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    at = rows[:, None] * C + columns[None, :]
    inside = (rows[:, None] < N) & (columns[None, :] < C)
    values = s * tl.load(x + at, mask=inside, other=float("-inf"))
    values = tl.where(inside, values, float("-inf"))
    exponentials = tl.exp(values - tl.max(values, axis=1)[:, None])
    tl.store(o + N * C + columns, tl.zeros((COLUMNS,), dtype=tl.float32), mask=(columns < C) & (tl.program_id(0) == tl.num_programs(0) - 1))
    tl.store(o + at, exponentials / tl.sum(exponentials, axis=1)[:, None], mask=inside)
