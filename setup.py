"""Everything that pip needs to know comes from settings.ini, which nbdev reads too."""
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

here = Path(__file__).parent
settings = ConfigParser(delimiters=["="])
settings.read(here / "settings.ini", encoding="utf-8")
settings = settings["DEFAULT"]
extras = {extra: settings[f"{extra}_requirements"].split() for extra in ("lab", "dev", "gpu", "special", "image")}

setup(
    name=settings["lib_name"],
    version=settings["version"],
    description=settings["description"],
    long_description=(here / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author=settings["author"],
    keywords=settings["keywords"],
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=f">={settings['min_python']}",
    install_requires=settings["requirements"].split(),
    extras_require=extras,
    packages=find_packages(include=["tfedu", "tfedu.*"]),
    package_data={"tfedu": ["**/*.pyi", "**/*.npz", "**/*.txt", "py.typed"]},
    include_package_data=False,
    entry_points={"nbdev": ["tfedu = tfedu._modidx:d"]},
    zip_safe=False,
)
