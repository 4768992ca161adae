# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.special import bessel_i0 as bessel_i0
from tfedu.ops.special import bessel_i0e as bessel_i0e
from tfedu.ops.special import bessel_i1 as bessel_i1
from tfedu.ops.special import bessel_i1e as bessel_i1e
from tfedu.ops.special import bessel_j0 as bessel_j0
from tfedu.ops.special import bessel_j1 as bessel_j1
from tfedu.ops.special import bessel_k0 as bessel_k0
from tfedu.ops.special import bessel_k0e as bessel_k0e
from tfedu.ops.special import bessel_k1 as bessel_k1
from tfedu.ops.special import bessel_k1e as bessel_k1e
from tfedu.ops.special import bessel_y0 as bessel_y0
from tfedu.ops.special import bessel_y1 as bessel_y1
from tfedu.ops.special import dawsn as dawsn
from tfedu.ops.special import expint as expint
from tfedu.ops.special import fresnel_cos as fresnel_cos
from tfedu.ops.special import fresnel_sin as fresnel_sin
from tfedu.ops.special import spence as spence
