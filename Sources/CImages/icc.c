#include <stdlib.h>
#include <string.h>

#include <lcms2.h>

#include "reader.h"

struct cimages_transform {
  cmsContext context;
  cmsHPROFILE profile;
  cmsHPROFILE srgb;
  cmsHTRANSFORM transform;
};

static enum cimages_profile_space space_of(cmsHPROFILE profile) {
  switch (cmsGetColorSpace(profile)) {
    case cmsSigGrayData: return cimages_space_grey;
    case cmsSigRgbData: return cimages_space_rgb;
    case cmsSigCmykData: return cimages_space_cmyk;
    default: return cimages_space_other;
  }
}

static cmsHTRANSFORM open_transform(const struct cimages_transform *self, enum cimages_profile_space space) {
  cmsUInt32Number source, target = TYPE_RGB_16;
  // Without the cache, any thread may use the transform. 16-bit colours are the nodes of a table and must be exact; for
  // CMYK pixels speed matters more.
  cmsUInt32Number flags = cmsFLAGS_NOCACHE | cmsFLAGS_NOOPTIMIZE;
  switch (space) {
    case cimages_space_grey: source = TYPE_GRAY_16; break;
    case cimages_space_rgb: source = TYPE_RGB_16; break;
    case cimages_space_cmyk:
      source = TYPE_CMYK_8_REV;
      target = TYPE_RGB_8;
      flags = cmsFLAGS_NOCACHE;
      break;
    default: return NULL;
  }
  return cmsCreateTransformTHR(self->context, self->profile, source, self->srgb, target, INTENT_PERCEPTUAL, flags);
}

enum cimages_status cimages_open_transform(const uint8_t *profile, size_t count,
                                           struct cimages_transform **transform, enum cimages_profile_space *space,
                                           char name[100], struct cimages_failure *failure) {
  *failure = (struct cimages_failure){.status = cimages_ok};
  struct cimages_transform *self = calloc(1, sizeof *self);
  if (!self) return cimages_fail(failure, cimages_out_of_memory, "out of memory for a colour transform");
  name[0] = 0;
  self->context = cmsCreateContext(NULL, NULL);
  if (self->context) {
    self->profile = cmsOpenProfileFromMemTHR(self->context, profile, (cmsUInt32Number)count);
    self->srgb = cmsCreate_sRGBProfileTHR(self->context);
  }
  if (self->profile && self->srgb) {
    *space = space_of(self->profile);
    cmsGetProfileInfoASCII(self->profile, cmsInfoDescription, "en", "US", name, 100);
    self->transform = open_transform(self, *space);
  }
  if (!self->transform) {
    cimages_close_transform(self);
    return cimages_fail(failure, cimages_malformed, "the colour profile is invalid or unsupported");
  }
  *transform = self;
  return cimages_ok;
}

static uint8_t *save(cmsHPROFILE profile, size_t *count) {
  cmsUInt32Number needed = 0;
  if (!cmsSaveProfileToMem(profile, NULL, &needed)) return NULL;
  uint8_t *bytes = malloc(needed);
  if (bytes && !cmsSaveProfileToMem(profile, bytes, &needed)) {
    free(bytes);
    return NULL;
  }
  *count = bytes ? needed : 0;
  return bytes;
}

uint8_t *cimages_make_profile(const struct cimages_chromaticities *found, double gamma, size_t *count) {
  *count = 0;
  cmsContext context = cmsCreateContext(NULL, NULL);
  if (!context) return NULL;
  const cmsCIExyY white = {found->white_x, found->white_y, 1};
  const cmsCIExyYTRIPLE primaries = {{found->red_x, found->red_y, 1}, {found->green_x, found->green_y, 1},
                                     {found->blue_x, found->blue_y, 1}};
  static const double srgb[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  cmsToneCurve *curve = gamma > 0 ? cmsBuildGamma(context, gamma) : cmsBuildParametricToneCurve(context, 4, srgb);
  uint8_t *bytes = NULL;
  if (curve) {
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsHPROFILE profile = cmsCreateRGBProfileTHR(context, &white, &primaries, curves);
    if (profile) {
      bytes = save(profile, count);
      cmsCloseProfile(profile);
    }
    cmsFreeToneCurve(curve);
  }
  cmsDeleteContext(context);
  return bytes;
}

void cimages_transform8(const struct cimages_transform *transform, const uint8_t *source, uint8_t *target,
                        size_t count) {
  cmsDoTransform(transform->transform, source, target, (cmsUInt32Number)count);
}

void cimages_transform16(const struct cimages_transform *transform, const uint16_t *source, uint16_t *target,
                         size_t count) {
  cmsDoTransform(transform->transform, source, target, (cmsUInt32Number)count);
}

void cimages_close_transform(struct cimages_transform *transform) {
  if (!transform) return;
  if (transform->transform) cmsDeleteTransform(transform->transform);
  if (transform->srgb) cmsCloseProfile(transform->srgb);
  if (transform->profile) cmsCloseProfile(transform->profile);
  if (transform->context) cmsDeleteContext(transform->context);
  free(transform);
}
