import triton
import triton.language as tl


# The second half of the rows is left as it was.
@triton.jit
def softmax(o, x, s, N, C, COLUMNS: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    at = rows[:, None] * C + columns[None, :]
    inside = (rows[:, None] < N // 2) & (columns[None, :] < C)
    values = s * tl.load(x + at, mask=inside, other=float("-inf"))
    values = tl.where(inside, values, float("-inf"))
    exponentials = tl.exp(values - tl.max(values, axis=1)[:, None])
    tl.store(o + at, exponentials / tl.sum(exponentials, axis=1)[:, None], mask=inside)
