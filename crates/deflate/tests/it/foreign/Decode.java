import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;

/** Decodes each NAME.gz of a folder and compares it with the file `plain`. */
class Decode {
    public static void main(String[] arguments) throws Exception {
        int count = 0;
        byte[] plain = Files.readAllBytes(Path.of(arguments[0], "plain"));
        try (var names = Files.newDirectoryStream(Path.of(arguments[0]), "*.gz")) {
            for (Path name : names) {
                try (var stream = new GZIPInputStream(new ByteArrayInputStream(Files.readAllBytes(name)))) {
                    if (!Arrays.equals(stream.readAllBytes(), plain)) {
                        throw new AssertionError(name);
                    }
                }
                count++;
            }
        }
        System.out.println(count);
    }
}
