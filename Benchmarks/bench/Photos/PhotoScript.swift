/// Python scripts that make the four variants of each photo with other libraries.
///
/// The first argument is the output folder, the others are photos.
enum PhotoScript {
  static let pyvips = """
    import sys, pyvips
    pyvips.cache_set_max(0)
    options = dict(Q=80, interlace=True, optimize_coding=True, strip=True)
    for number, path in enumerate(sys.argv[2:]):
        large = pyvips.Image.thumbnail(path, 2048, height=2048, export_profile='srgb').copy_memory()
        medium = large.thumbnail_image(1080, height=1080).copy_memory()
        small = medium.thumbnail_image(320, height=320).copy_memory()
        square = small.thumbnail_image(150, height=150, crop='centre')
        for name, image in dict(large=large, medium=medium, small=small, square=square).items():
            image.jpegsave(f'{sys.argv[1]}/{number}.{name}.jpg', **options)
    """

  static let pillow = """
    import io, sys
    from PIL import Image, ImageCms, ImageOps
    srgb = ImageCms.createProfile('sRGB')
    for number, path in enumerate(sys.argv[2:]):
        large = Image.open(path)
        profile = large.info.get('icc_profile')
        large.draft('RGB', (2048, 2048))
        large.thumbnail((2048, 2048), Image.LANCZOS, reducing_gap=2.0)
        large = ImageOps.exif_transpose(large)
        if profile:
            large = ImageCms.profileToProfile(large, ImageCms.ImageCmsProfile(io.BytesIO(profile)), srgb)
        medium = large.copy()
        medium.thumbnail((1080, 1080), Image.LANCZOS)
        small = medium.copy()
        small.thumbnail((320, 320), Image.LANCZOS)
        square = ImageOps.fit(medium, (150, 150), Image.LANCZOS)
        for name, image in dict(large=large, medium=medium, small=small, square=square).items():
            image.save(f'{sys.argv[1]}/{number}.{name}.jpg', quality=80, progressive=True, optimize=True, icc_profile=None)
    """

  /// The reference for quality: decoded at full size, rotated by its Exif orientation, converted to sRGB, and scaled in
  /// one step.
  static let reference = """
    import io, sys
    from PIL import Image, ImageCms
    srgb = ImageCms.createProfile('sRGB')
    rotations = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}
    for number, path in enumerate(sys.argv[2:]):
        image = Image.open(path)
        profile, exif = image.info.get('icc_profile'), Image.Exif()
        if image.info.get('exif'):
            exif.load(image.info['exif'])
        image = image.convert('RGB')
        if profile:
            image = ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), srgb)
        if exif.get(0x0112, 1) in rotations:
            image = image.transpose(rotations[exif[0x0112]])
        for name, edge in dict(large=2048, medium=1080, small=320).items():
            scale = edge / max(image.size)
            size = [max(1, round(side * scale)) for side in image.size] if scale < 1 else image.size
            image.resize(size, Image.LANCZOS).save(f'{sys.argv[1]}/{number}.{name}.png')
    """
}
