// Writes one file of an Nx archive to standard output: mcs ReadArchive.cs && mono ReadArchive.exe FILE PATH
using System;
using System.Runtime.InteropServices;
using System.Text;

static class ReadArchive
{
    [StructLayout(LayoutKind.Sequential)] struct Error { public int Kind, Os; public ulong Offset; public IntPtr Message; }
    [StructLayout(LayoutKind.Sequential)] struct Archive { public ulong Id; }
    [StructLayout(LayoutKind.Sequential)] struct Options { public ulong Cache, VerifyAndReserved; }
    [StructLayout(LayoutKind.Sequential)] struct Entry { public ulong Size, Hash; public UIntPtr PathLength; public ulong HasHash; }

    const string Library = "liblinerate.so.0.1";
    [DllImport(Library)] static extern Options linerate_archive_defaults();
    [DllImport(Library)] static extern Error linerate_archive_open(byte[] path, ref Options options, out Archive archive);
    [DllImport(Library)] static extern Error linerate_archive_find(Archive archive, byte[] path, UIntPtr length, out UIntPtr index);
    [DllImport(Library)] static extern Error linerate_archive_get(Archive archive, UIntPtr index, out Entry entry);
    [DllImport(Library)] static extern Error linerate_archive_read(Archive archive, UIntPtr index, byte[] to, UIntPtr capacity, out UIntPtr written);
    [DllImport(Library)] static extern Error linerate_archive_free(Archive archive);

    static void Check(Error error)
    {
        if (error.Kind != 0) throw new Exception(Marshal.PtrToStringAnsi(error.Message));
    }

    static void Main(string[] args)
    {
        var options = linerate_archive_defaults();
        var path = Encoding.UTF8.GetBytes(args[1]);
        Archive archive; UIntPtr index, written; Entry entry;
        Check(linerate_archive_open(Encoding.UTF8.GetBytes(args[0] + "\0"), ref options, out archive));
        Check(linerate_archive_find(archive, path, (UIntPtr)path.Length, out index));
        Check(linerate_archive_get(archive, index, out entry));
        var content = new byte[entry.Size];
        Check(linerate_archive_read(archive, index, content, (UIntPtr)content.Length, out written));
        Check(linerate_archive_free(archive));
        Console.OpenStandardOutput().Write(content, 0, content.Length);
    }
}
