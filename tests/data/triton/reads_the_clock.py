import triton
import triton.language as tl


# The nanosecond timer takes part in what is written.
@triton.jit
def softmax(o, x, s, N, C, COLUMNS: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    at = rows[:, None] * C + columns[None, :]
    inside = (rows[:, None] < N) & (columns[None, :] < C)
    values = s * tl.load(x + at, mask=inside, other=float("-inf"))
    values = tl.where(inside, values, float("-inf"))
    exponentials = tl.exp(values - tl.max(values, axis=1)[:, None])
    time = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l,r", [columns], dtype=tl.int64, is_pure=False, pack=1)
    inside = inside & (time > 0)[None, :]
    tl.store(o + at, exponentials / tl.sum(exponentials, axis=1)[:, None], mask=inside)
