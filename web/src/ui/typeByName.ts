/** What a file is, as far as a small picture needs it: lists do not say the media type, and the name does well enough. */
export const typeByName = (name: string): string | null =>
  /\.pdf$/i.test(name) ? "application/pdf" : /\.(png|jpe?g|tiff?|heic|heif|webp|gif|bmp)$/i.test(name) ? "image/tiff" : null;
