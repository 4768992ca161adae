"""What the sweep must know about signals: spectra are complex, half spectra know the length of the signal, frames need two axes."""
from tables.inputs import draw

SPECTRUM = draw(2, 2, 3) + 1j * draw(2, 3, 2).reshape(2, 2, 3)

CASES = {
    **{name: [((SPECTRUM,), {})] for name in ("fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d")},
    "half_spectrum": [((draw(2, 5),), {}), ((draw(2, 1),), {}), ((draw(2, 3, 4),), dict(rank=3))],
    "real_signal": [((SPECTRUM,), dict(length=4)), ((SPECTRUM,), dict(length=5, rank=2)), ((SPECTRUM[..., :1],), dict(length=1))],
    "cut_frames": [((draw(2, 7),), dict(frame_length=3, frame_step=2)), ((draw(9),), dict(frame_length=2, frame_step=3)),
                   ((draw(2, 7) + 1j,), dict(frame_length=4, frame_step=1))],
    "add_frames": [((draw(2, 3, 4),), dict(frame_step=2)), ((draw(3, 5),), dict(frame_step=3)), ((draw(3, 2) + 1j,), dict(frame_step=4))],
    "cosines": [((draw(2, n),), dict(type=kind)) for kind in (1, 2, 3, 4) for n in (1, 2, 5)[kind == 1:]],
}
TYPES = {
    "COMPLEX": "fft ifft fft2d ifft2d fft3d ifft3d real_signal",
    "float32 | float64": "half_spectrum cosines",
    "ANY": "cut_frames",
    "NUMBER": "add_frames",
}
