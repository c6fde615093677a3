"""One figure per family: what it looks like, and how its measured exponents compare with the annotated ones."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from io import BytesIO

import numpy as np

from .measure import Target, cube_errors
from .packing import packings
from .registry import get, lookup

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#666666"  # Okabe and Ito: safe for colour-blind readers
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}


def gallery(names, workers=1) -> dict[str, bytes]:
    """The files of a gallery by name: a figure of every family in d = 2, and the page gallery.md."""
    if workers == 1 or len(names) == 1:
        drawn = list(map(_drawn, names))
    else:
        with ProcessPoolExecutor(min(workers, len(names))) as pool:
            drawn = list(pool.map(_drawn, names))
    page = _page([(name, text) for name, text, _ in drawn])
    return {f"{name}.png": picture for name, _, picture in drawn} | {"gallery.md": page.encode()}


def _page(captions):
    lines = [
        "# The function zoo",
        "",
        "Each family in two dimensions.  Left: the cost f − f* (dark is low; crosses are minimisers;",
        "neighbouring colours cover equal shares of the box).  Middle: the size of the sublevel sets {f − f* < ε},",
        "counted in cubes of length a times a^d, a of the order of ε^(1/α) and less, with the annotated slope β.",
        "Right: the worst error of a cube mean, |mean of f over B(x, a) − f(x)|, with the annotated bound M_b a^α.",
        "",
    ]
    for name, text in captions:
        lines += [f"## {name}", "", text, "", f"![{name}]({name}.png)", ""]
    return "\n".join(lines)


def _drawn(name) -> tuple[str, str, bytes]:
    """A family's name, its caption, and its figure as PNG."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure  # not pyplot: no window, and nobody else's backend is changed

    cost = get(name, 2)
    c = cost.constants
    target = Target.of(cost)
    rng = np.random.default_rng(0)
    errors = cube_errors(target, rng)
    packed = packings(target, c.alpha, unit=c.M_b, bias=c.mu_min, rng=rng)

    with rc_context(STYLE):
        figure = Figure(figsize=(12.6, 3.9), dpi=110, layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        _contour(figure, left, cost)
        _sublevel(middle, packed, c)
        _errors(right, errors, c)
        picture = BytesIO()
        FigureCanvasAgg(figure).print_png(picture)
    condition = "" if c.literal else " under (c′)"
    entry = lookup(name)
    text = (
        f"{entry.formula}.  In two dimensions α = {c.alpha:.3g}, β = {c.beta:.3g}{condition}, d/α = {2 / c.alpha:.3g}; "
        f"M_a = {c.M_a:.4g}, M_b = {c.M_b:.4g}, μ_min = {c.mu_min:.4g}, C0 = {c.C0:.4g}."
    )
    return name, text, picture.getvalue()


def _contour(figure, axes, cost):
    from matplotlib.colors import BoundaryNorm

    x, y = (np.linspace(lo, hi, 400) for lo, hi in zip(cost.lower, cost.upper, strict=True))
    X, Y = np.meshgrid(x, y)
    Z = cost.many(np.column_stack([X.ravel(), Y.ravel()])).reshape(X.shape) - cost.minimum
    # Equal shares of the box between two contour lines, so that wells on a wide plain stay visible
    levels = np.unique(np.quantile(Z, np.linspace(0, 1, 13)))
    if len(levels) < 4:
        levels = np.linspace(Z.min(), Z.max(), 12)
    drawn = axes.contourf(X, Y, Z, levels=levels, cmap="viridis", norm=BoundaryNorm(levels, 256))
    bar = figure.colorbar(drawn, ax=axes, ticks=levels[::3])
    bar.ax.set_yticklabels([f"{v:.2g}" for v in levels[::3]])
    axes.plot(*cost.minimisers.T, "x", color="white", markersize=7, markeredgewidth=1.6, clip_on=False)
    axes.set_aspect("equal")
    axes.set_xlabel("$x_1$")
    axes.set_ylabel("$x_2$")
    axes.set_title("f − f*", loc="left")


def _sublevel(axes, packed, constants):
    eps, size, _ = packed.scaling(2)
    axes.loglog(eps, size, ".", color=BLUE, markersize=4)
    anchor = len(eps) // 6
    line = size[anchor] * (eps / eps[anchor]) ** constants.beta
    axes.loglog(eps, line, color=ORANGE, linewidth=1.5)
    axes.set_ylim(size.min() / 3, size.max() * 3)
    _label(axes, f"slope β = {constants.beta:.3g}")
    axes.set_xlabel("ε")
    axes.set_title("size of {f − f* < ε}", loc="left")


def _errors(axes, errors, constants):
    a = np.array([w.a for w in errors])
    value = np.array([w.value for w in errors])
    axes.loglog(a, value, ".", color=BLUE, markersize=5)
    axes.loglog(a, constants.M_b * a**constants.alpha, color=ORANGE, linewidth=1.5)
    _label(axes, f"$M_b\\,a^α$, α = {constants.alpha:.3g}")
    axes.set_xlabel("a")
    axes.set_title("worst error of a cube mean", loc="left")


def _label(axes, text):
    axes.text(0.05, 0.93, text, color=ORANGE, transform=axes.transAxes, va="top")
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.tick_params(colors=GREY)
